// RUN: qopt %s --split-input-file --verify-diagnostics

!q = !quant.uniform<i8:f32, 5.000000e-01:3>

func.func @requantize_c1_float(%x: tensor<4xf32>) {
  // expected-error@+1 {{'qnn.requantize' op (C1) input element type: got f32, expected a quantized one}}
  %result = "qnn.requantize"(%x) : (tensor<4xf32>) -> tensor<4x!q>
  return
}

// -----

!q = !quant.uniform<i8:f32, 5.000000e-01:3>
!c = !quant.uniform<i8:f32:0, {2.500000e-01,5.000000e-01}>

func.func @requantize_c1_per_axis(%x: tensor<2x!q>) {
  // expected-error@+1 {{'qnn.requantize' op (C1) result must be quantized per-tensor, got quantized i8 per-axis 0}}
  %result = "qnn.requantize"(%x) : (tensor<2x!q>) -> tensor<2x!c>
  return
}

// -----

!q = !quant.uniform<i8:f32, 5.000000e-01:3>
!r = !quant.uniform<i8:f32, 2.500000e-01:-1>

func.func @requantize_c2_shape(%x: tensor<4x!q>) {
  // expected-error@+1 {{'qnn.requantize' op (C2) result shape: got [5], expected [4]}}
  %result = "qnn.requantize"(%x) : (tensor<4x!q>) -> tensor<5x!r>
  return
}
