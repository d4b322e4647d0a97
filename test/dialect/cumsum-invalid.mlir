// RUN: qopt %s --split-input-file --verify-diagnostics

func.func @cumsum_c0_operands(%x: tensor<2x4xf32>, %y: tensor<4xf32>) {
  // expected-error@+1 {{'qnn.cumsum' op (C0) got 2 operands, expected 1}}
  %result = "qnn.cumsum"(%x, %y) {axis = 1 : i64, exclusive = false, reverse = true} : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  return
}

// -----

func.func @cumsum_c1_shape(%x: tensor<2x4xf32>) {
  // expected-error@+1 {{'qnn.cumsum' op (C1) result shape: got [2, 5], expected [2, 4]}}
  %result = "qnn.cumsum"(%x) {axis = 1 : i64, exclusive = false, reverse = true} : (tensor<2x4xf32>) -> tensor<2x5xf32>
  return
}

// -----

func.func @cumsum_c2_axis(%x: tensor<4xf32>) {
  // expected-error@+1 {{'qnn.cumsum' op (C2) axis: got 1, expected a dimension of a tensor of rank 1}}
  %result = "qnn.cumsum"(%x) {axis = 1 : i64, exclusive = false, reverse = true} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

!q = !quant.uniform<i8:f32, 5.000000e-01:3>

func.func @cumsum_c3_quantized(%x: tensor<2x4x!q>) {
  // expected-error@+1 {{'qnn.cumsum' op (C3) input element type: got quantized i8, expected f32, i32 or i64}}
  %result = "qnn.cumsum"(%x) {axis = 1 : i64, exclusive = false, reverse = true} : (tensor<2x4x!q>) -> tensor<2x4x!q>
  return
}

// -----

func.func @cumsum_c3_result(%x: tensor<2x4xi32>) {
  // expected-error@+1 {{'qnn.cumsum' op (C3) result element type: got i64, expected the input's}}
  %result = "qnn.cumsum"(%x) {axis = 1 : i64, exclusive = false, reverse = true} : (tensor<2x4xi32>) -> tensor<2x4xi64>
  return
}
