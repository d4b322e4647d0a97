// RUN: qopt %s --split-input-file --verify-diagnostics

!q = !quant.uniform<i8:f32, 5.000000e-01:3>

func.func @softmax_c1_shape(%x: tensor<2x4x!q>) {
  // expected-error@+1 {{'qnn.softmax' op (C1) result shape: got [2, 5], expected [2, 4]}}
  %result = "qnn.softmax"(%x) {axis = 1 : i64, beta = 1.000000e+00 : f32} : (tensor<2x4x!q>) -> tensor<2x5x!q>
  return
}

// -----

!q = !quant.uniform<i8:f32, 5.000000e-01:3>

func.func @softmax_c2_axis(%x: tensor<2x4x!q>) {
  // expected-error@+1 {{'qnn.softmax' op (C2) axis: got -1, expected a dimension of a tensor of rank 2}}
  %result = "qnn.softmax"(%x) {axis = -1 : i64, beta = 1.000000e+00 : f32} : (tensor<2x4x!q>) -> tensor<2x4x!q>
  return
}

// -----

!q = !quant.uniform<i8:f32, 5.000000e-01:3>

func.func @softmax_c3_beta_zero(%x: tensor<2x4x!q>) {
  // expected-error@+1 {{'qnn.softmax' op (C3) beta must be finite and positive, got 0.0}}
  %result = "qnn.softmax"(%x) {axis = 1 : i64, beta = 0.000000e+00 : f32} : (tensor<2x4x!q>) -> tensor<2x4x!q>
  return
}

// -----

!q = !quant.uniform<i8:f32, 5.000000e-01:3>

func.func @softmax_c3_beta_infinite(%x: tensor<2x4x!q>) {
  // expected-error@+1 {{'qnn.softmax' op (C3) beta must be finite and positive, got inf}}
  %result = "qnn.softmax"(%x) {axis = 1 : i64, beta = 0x7F800000 : f32} : (tensor<2x4x!q>) -> tensor<2x4x!q>
  return
}

// -----

!q = !quant.uniform<i8:f32, 5.000000e-01:3>

func.func @softmax_c3_beta_nan(%x: tensor<2x4x!q>) {
  // expected-error@+1 {{'qnn.softmax' op (C3) beta must be finite and positive, got nan}}
  %result = "qnn.softmax"(%x) {axis = 1 : i64, beta = 0x7FC00000 : f32} : (tensor<2x4x!q>) -> tensor<2x4x!q>
  return
}

// -----

!q = !quant.uniform<i8:f32, 5.000000e-01:3>

func.func @softmax_c4_mixed(%x: tensor<2x4x!q>) {
  // expected-error@+1 {{'qnn.softmax' op (C4) input and result must be all f32 or all quantized, got input quantized i8, result f32}}
  %result = "qnn.softmax"(%x) {axis = 1 : i64, beta = 1.000000e+00 : f32} : (tensor<2x4x!q>) -> tensor<2x4xf32>
  return
}

// -----

!h = !quant.uniform<i16:f32, 7.812500e-03>
!q = !quant.uniform<i8:f32, 5.000000e-01:3>

func.func @softmax_c4_narrower(%x: tensor<2x4x!h>) {
  // expected-error@+1 {{'qnn.softmax' op (C4) result: got storage type i8, expected at least 16 bits (the input's)}}
  %result = "qnn.softmax"(%x) {axis = 1 : i64, beta = 1.000000e+00 : f32} : (tensor<2x4x!h>) -> tensor<2x4x!q>
  return
}
