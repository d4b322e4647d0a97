// RUN: qopt %s --split-input-file --verify-diagnostics

!q = !quant.uniform<i8:f32, 5.000000e-01:3>

func.func @arg_min_c1_axis(%x: tensor<2x8x!q>) {
  // expected-error@+1 {{'qnn.arg_min' op (C1) axis: got 2, expected a dimension of a tensor of rank 2}}
  %result = "qnn.arg_min"(%x) {axis = 2 : i64} : (tensor<2x8x!q>) -> tensor<2xi32>
  return
}

// -----

!q = !quant.uniform<i8:f32, 5.000000e-01:3>

func.func @arg_min_c1_empty(%x: tensor<2x0x!q>) {
  // expected-error@+1 {{'qnn.arg_min' op (C1) axis: dimension 1 of extent 0 has no smallest value}}
  %result = "qnn.arg_min"(%x) {axis = 1 : i64} : (tensor<2x0x!q>) -> tensor<2xi32>
  return
}

// -----

!q = !quant.uniform<i8:f32, 5.000000e-01:3>

func.func @arg_min_c2_shape(%x: tensor<2x8x!q>) {
  // expected-error@+1 {{'qnn.arg_min' op (C2) result shape: got [8], expected [2]}}
  %result = "qnn.arg_min"(%x) {axis = 1 : i64} : (tensor<2x8x!q>) -> tensor<8xi32>
  return
}

// -----

func.func @arg_min_c3_half(%x: tensor<2x8xf16>) {
  // expected-error@+1 {{'qnn.arg_min' op (C3) input element type: got f16, expected f32, an integer or a quantized one}}
  %result = "qnn.arg_min"(%x) {axis = 1 : i64} : (tensor<2x8xf16>) -> tensor<2xi32>
  return
}

// -----

!c = !quant.uniform<i8:f32:0, {5.000000e-01, 2.500000e-01}>

func.func @arg_min_c3_channels(%x: tensor<2x8x!c>) {
  // expected-error@+1 {{'qnn.arg_min' op (C3) input must be quantized per-tensor, got quantized i8 per-axis 0}}
  %result = "qnn.arg_min"(%x) {axis = 1 : i64} : (tensor<2x8x!c>) -> tensor<2xi32>
  return
}

// -----

!q = !quant.uniform<i8:f32, 5.000000e-01:3>

func.func @arg_min_c4_result(%x: tensor<2x8x!q>) {
  // expected-error@+1 {{'qnn.arg_min' op (C4) result element type: got f32, expected i32 or i64}}
  %result = "qnn.arg_min"(%x) {axis = 1 : i64} : (tensor<2x8x!q>) -> tensor<2xf32>
  return
}
