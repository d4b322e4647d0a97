// RUN: qopt %s --split-input-file --verify-diagnostics

!q = !quant.uniform<i8:f32, 5.000000e-01:3>

func.func @clamp_c1_shape(%x: tensor<4x!q>) {
  // expected-error@+1 {{'qnn.clamp' op (C1) result shape: got [5], expected [4]}}
  %result = "qnn.clamp"(%x) {clamp = array<f32: 0.000000e+00, 6.000000e+00>} : (tensor<4x!q>) -> tensor<5x!q>
  return
}

// -----

!q = !quant.uniform<i8:f32, 5.000000e-01:3>

func.func @clamp_c2_mixed(%x: tensor<4x!q>) {
  // expected-error@+1 {{'qnn.clamp' op (C2) input and result must be all f32 or all quantized, got input quantized i8, result f32}}
  %result = "qnn.clamp"(%x) {clamp = array<f32: 0.000000e+00, 6.000000e+00>} : (tensor<4x!q>) -> tensor<4xf32>
  return
}

// -----

!q = !quant.uniform<i8:f32, 5.000000e-01:3>

func.func @clamp_c3_order(%x: tensor<4x!q>) {
  // expected-error@+1 {{'qnn.clamp' op (C3) clamp: got [6.0, 0.0], expected low <= high}}
  %result = "qnn.clamp"(%x) {clamp = array<f32: 6.000000e+00, 0.000000e+00>} : (tensor<4x!q>) -> tensor<4x!q>
  return
}
