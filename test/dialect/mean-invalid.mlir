// RUN: qopt %s --split-input-file --verify-diagnostics

!q = !quant.uniform<i8:f32, 5.000000e-01:3>

func.func @mean_c1_axis(%x: tensor<1x8x8x2x!q>) {
  // expected-error@+1 {{'qnn.mean' op (C1) axes: got 4, expected a dimension of a tensor of rank 4}}
  %result = "qnn.mean"(%x) {axes = array<i64: 4>, keep_dims = false} : (tensor<1x8x8x2x!q>) -> tensor<1x8x8x!q>
  return
}

// -----

!q = !quant.uniform<i8:f32, 5.000000e-01:3>

func.func @mean_c1_negative_axis(%x: tensor<1x8x8x2x!q>) {
  // expected-error@+1 {{'qnn.mean' op (C1) axes: got -1, expected a dimension of a tensor of rank 4}}
  %result = "qnn.mean"(%x) {axes = array<i64: -1>, keep_dims = false} : (tensor<1x8x8x2x!q>) -> tensor<1x8x8x!q>
  return
}

// -----

!q = !quant.uniform<i8:f32, 5.000000e-01:3>

func.func @mean_c1_twice(%x: tensor<1x8x8x2x!q>) {
  // expected-error@+1 {{'qnn.mean' op (C1) axes: got [1, 1], expected different ones}}
  %result = "qnn.mean"(%x) {axes = array<i64: 1, 1>, keep_dims = false} : (tensor<1x8x8x2x!q>) -> tensor<1x8x2x!q>
  return
}

// -----

!q = !quant.uniform<i8:f32, 5.000000e-01:3>

func.func @mean_c1_empty(%x: tensor<1x0x2x!q>) {
  // expected-error@+1 {{'qnn.mean' op (C1) axes: the mean over dimension 1 of extent 0 does not exist}}
  %result = "qnn.mean"(%x) {axes = array<i64: 1>, keep_dims = false} : (tensor<1x0x2x!q>) -> tensor<1x2x!q>
  return
}

// -----

!q = !quant.uniform<i8:f32, 5.000000e-01:3>

func.func @mean_c2_result_shape(%x: tensor<1x8x8x2x!q>) {
  // expected-error@+1 {{'qnn.mean' op (C2) result shape: got [1, 2], expected [1, 1, 1, 2]}}
  %result = "qnn.mean"(%x) {axes = array<i64: 1, 2>, keep_dims = true} : (tensor<1x8x8x2x!q>) -> tensor<1x2x!q>
  return
}

// -----

!q = !quant.uniform<i8:f32, 5.000000e-01:3>

func.func @mean_c3_mixed(%x: tensor<1x8x8x2x!q>) {
  // expected-error@+1 {{'qnn.mean' op (C3) input and result must be all f32 or all quantized, got input quantized i8, result f32}}
  %result = "qnn.mean"(%x) {axes = array<i64: 1, 2>, keep_dims = false} : (tensor<1x8x8x2x!q>) -> tensor<1x2xf32>
  return
}
