// RUN: qopt %s --split-input-file --verify-diagnostics

!q = !quant.uniform<i8:f32, 5.000000e-01:3>

func.func @reduce_max_c0_operands(%x: tensor<2x4x!q>, %y: tensor<4x!q>) {
  // expected-error@+1 {{'qnn.reduce_max' op (C0) got 2 operands, expected 1}}
  %result = "qnn.reduce_max"(%x, %y) {axes = array<i64: 1>, keep_dims = false} : (tensor<2x4x!q>, tensor<4x!q>) -> tensor<2x!q>
  return
}

// -----

!q = !quant.uniform<i8:f32, 5.000000e-01:3>

func.func @reduce_max_c1_axis(%x: tensor<2x4x!q>) {
  // expected-error@+1 {{'qnn.reduce_max' op (C1) axes: got 2, expected a dimension of a tensor of rank 2}}
  %result = "qnn.reduce_max"(%x) {axes = array<i64: 2>, keep_dims = false} : (tensor<2x4x!q>) -> tensor<2x!q>
  return
}

// -----

!q = !quant.uniform<i8:f32, 5.000000e-01:3>

func.func @reduce_max_c2_shape(%x: tensor<2x4x!q>) {
  // expected-error@+1 {{'qnn.reduce_max' op (C2) result shape: got [4], expected [2]}}
  %result = "qnn.reduce_max"(%x) {axes = array<i64: 1>, keep_dims = false} : (tensor<2x4x!q>) -> tensor<4x!q>
  return
}

// -----

!q = !quant.uniform<i8:f32, 5.000000e-01:3>

func.func @reduce_max_c3_mixed(%x: tensor<2x4x!q>) {
  // expected-error@+1 {{'qnn.reduce_max' op (C3) input and result must be all f32 or all quantized, got input quantized i8, result f32}}
  %result = "qnn.reduce_max"(%x) {axes = array<i64: 1>, keep_dims = false} : (tensor<2x4x!q>) -> tensor<2xf32>
  return
}
