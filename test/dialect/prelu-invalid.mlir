// RUN: qopt %s --split-input-file --verify-diagnostics

!q = !quant.uniform<i8:f32, 5.000000e-01:3>

func.func @prelu_c0_operands(%x: tensor<4x!q>) {
  // expected-error@+1 {{'qnn.prelu' op (C0) got 1 operands, expected 2}}
  %result = "qnn.prelu"(%x) : (tensor<4x!q>) -> tensor<4x!q>
  return
}

// -----

!q = !quant.uniform<i8:f32, 5.000000e-01:3>

func.func @prelu_c1_mixed(%x: tensor<4x!q>, %y: tensor<4xf32>) {
  // expected-error@+1 {{'qnn.prelu' op (C1) input, alpha and result must be all f32 or all quantized, got input quantized i8, alpha f32, result quantized i8}}
  %result = "qnn.prelu"(%x, %y) : (tensor<4x!q>, tensor<4xf32>) -> tensor<4x!q>
  return
}

// -----

!q = !quant.uniform<i8:f32, 5.000000e-01:3>

func.func @prelu_c2_shape(%x: tensor<2x4x!q>, %y: tensor<3x!q>) {
  // expected-error@+1 {{'qnn.prelu' op (C2) shapes [2, 4] and [3] do not broadcast: 4 against 3}}
  %result = "qnn.prelu"(%x, %y) : (tensor<2x4x!q>, tensor<3x!q>) -> tensor<2x4x!q>
  return
}
