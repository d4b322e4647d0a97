// RUN: qopt %s --split-input-file --verify-diagnostics

!q = !quant.uniform<i8:f32, 5.000000e-01:3>

func.func @reverse_c1_axis(%x: tensor<2x3x!q>) {
  // expected-error@+1 {{'qnn.reverse' op (C1) axes: got 2, expected a dimension of a tensor of rank 2}}
  %result = "qnn.reverse"(%x) {axes = array<i64: 2>} : (tensor<2x3x!q>) -> tensor<2x3x!q>
  return
}

// -----

!q = !quant.uniform<i8:f32, 5.000000e-01:3>

func.func @reverse_c1_twice(%x: tensor<2x3x!q>) {
  // expected-error@+1 {{'qnn.reverse' op (C1) axes: got [1, 1], expected different ones}}
  %result = "qnn.reverse"(%x) {axes = array<i64: 1, 1>} : (tensor<2x3x!q>) -> tensor<2x3x!q>
  return
}

// -----

!q = !quant.uniform<i8:f32, 5.000000e-01:3>

func.func @reverse_c2_shape(%x: tensor<2x3x!q>) {
  // expected-error@+1 {{'qnn.reverse' op (C2) result shape: got [2, 4], expected [2, 3]}}
  %result = "qnn.reverse"(%x) {axes = array<i64: 1>} : (tensor<2x3x!q>) -> tensor<2x4x!q>
  return
}

// -----

!q = !quant.uniform<i8:f32, 5.000000e-01:3>

func.func @reverse_c3_mixed(%x: tensor<2x3x!q>) {
  // expected-error@+1 {{'qnn.reverse' op (C3) input and result must be all quantized or have the same element type, got input quantized i8, result f32}}
  %result = "qnn.reverse"(%x) {axes = array<i64: 1>} : (tensor<2x3x!q>) -> tensor<2x3xf32>
  return
}
