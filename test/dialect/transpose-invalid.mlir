// RUN: qopt %s --split-input-file --verify-diagnostics

!q = !quant.uniform<i8:f32, 5.000000e-01:3>

func.func @transpose_c1_twice(%x: tensor<2x3x!q>) {
  // expected-error@+1 {{'qnn.transpose' op (C1) permutation: got [1, 1], expected every dimension below 2 once}}
  %result = "qnn.transpose"(%x) {permutation = array<i64: 1, 1>} : (tensor<2x3x!q>) -> tensor<3x3x!q>
  return
}

// -----

!q = !quant.uniform<i8:f32, 5.000000e-01:3>

func.func @transpose_c1_count(%x: tensor<2x3x!q>) {
  // expected-error@+1 {{'qnn.transpose' op (C1) permutation: got [0], expected every dimension below 2 once}}
  %result = "qnn.transpose"(%x) {permutation = array<i64: 0>} : (tensor<2x3x!q>) -> tensor<2x3x!q>
  return
}

// -----

!q = !quant.uniform<i8:f32, 5.000000e-01:3>

func.func @transpose_c2_result_shape(%x: tensor<2x3x!q>) {
  // expected-error@+1 {{'qnn.transpose' op (C2) result shape: got [2, 3], expected [3, 2]}}
  %result = "qnn.transpose"(%x) {permutation = array<i64: 1, 0>} : (tensor<2x3x!q>) -> tensor<2x3x!q>
  return
}

// -----

!q = !quant.uniform<i8:f32, 5.000000e-01:3>

func.func @transpose_c3_mixed(%x: tensor<2x3x!q>) {
  // expected-error@+1 {{'qnn.transpose' op (C3) input and result must be all quantized or have the same element type, got input quantized i8, result i8}}
  %result = "qnn.transpose"(%x) {permutation = array<i64: 1, 0>} : (tensor<2x3x!q>) -> tensor<3x2xi8>
  return
}
