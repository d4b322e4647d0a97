// RUN: qopt %s --split-input-file --verify-diagnostics

!q = !quant.uniform<i8:f32, 5.000000e-01:3>

func.func @broadcast_c1_shape(%x: tensor<3x2x!q>) {
  // expected-error@+1 {{'qnn.broadcast' op (C1) shapes [3, 2] and [2, 3, 4] do not broadcast: 2 against 4}}
  %result = "qnn.broadcast"(%x) : (tensor<3x2x!q>) -> tensor<2x3x4x!q>
  return
}

// -----

!q = !quant.uniform<i8:f32, 5.000000e-01:3>

func.func @broadcast_c1_narrower(%x: tensor<3x2x!q>) {
  // expected-error@+1 {{'qnn.broadcast' op (C1) result shape: got [3, 1], expected [3, 2]}}
  %result = "qnn.broadcast"(%x) : (tensor<3x2x!q>) -> tensor<3x1x!q>
  return
}

// -----

!q = !quant.uniform<i8:f32, 5.000000e-01:3>

func.func @broadcast_c2_mixed(%x: tensor<3x1x!q>) {
  // expected-error@+1 {{'qnn.broadcast' op (C2) input and result must be all quantized or have the same element type, got input quantized i8, result f32}}
  %result = "qnn.broadcast"(%x) : (tensor<3x1x!q>) -> tensor<3x4xf32>
  return
}
