// RUN: qopt %s --split-input-file --verify-diagnostics

!q = !quant.uniform<i8:f32, 5.000000e-01:3>

func.func @arg_max_c1_axis(%x: tensor<1x8x8x2x!q>) {
  // expected-error@+1 {{'qnn.arg_max' op (C1) axis: got 4, expected a dimension of a tensor of rank 4}}
  %result = "qnn.arg_max"(%x) {axis = 4 : i64} : (tensor<1x8x8x2x!q>) -> tensor<1x8x8xi32>
  return
}

// -----

!q = !quant.uniform<i8:f32, 5.000000e-01:3>

func.func @arg_max_c1_empty(%x: tensor<2x0x!q>) {
  // expected-error@+1 {{'qnn.arg_max' op (C1) axis: dimension 1 of extent 0 has no largest value}}
  %result = "qnn.arg_max"(%x) {axis = 1 : i64} : (tensor<2x0x!q>) -> tensor<2xi32>
  return
}

// -----

!q = !quant.uniform<i8:f32, 5.000000e-01:3>

func.func @arg_max_c2_result_shape(%x: tensor<1x8x8x2x!q>) {
  // expected-error@+1 {{'qnn.arg_max' op (C2) result shape: got [1, 8, 2], expected [1, 8, 8]}}
  %result = "qnn.arg_max"(%x) {axis = 3 : i64} : (tensor<1x8x8x2x!q>) -> tensor<1x8x2xi32>
  return
}

// -----

func.func @arg_max_c3_half(%x: tensor<2x8xf16>) {
  // expected-error@+1 {{'qnn.arg_max' op (C3) input element type: got f16, expected f32, an integer or a quantized one}}
  %result = "qnn.arg_max"(%x) {axis = 1 : i64} : (tensor<2x8xf16>) -> tensor<2xi32>
  return
}

// -----

!c = !quant.uniform<i8:f32:0, {2.500000e-01,5.000000e-01}>

func.func @arg_max_c3_per_axis(%x: tensor<2x8x!c>) {
  // expected-error@+1 {{'qnn.arg_max' op (C3) input must be quantized per-tensor, got quantized i8 per-axis 0}}
  %result = "qnn.arg_max"(%x) {axis = 1 : i64} : (tensor<2x8x!c>) -> tensor<2xi32>
  return
}

// -----

!q = !quant.uniform<i8:f32, 5.000000e-01:3>

func.func @arg_max_c4_result_type(%x: tensor<1x8x8x2x!q>) {
  // expected-error@+1 {{'qnn.arg_max' op (C4) result element type: got f32, expected i32 or i64}}
  %result = "qnn.arg_max"(%x) {axis = 3 : i64} : (tensor<1x8x8x2x!q>) -> tensor<1x8x8xf32>
  return
}
