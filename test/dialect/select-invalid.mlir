// RUN: qopt %s --split-input-file --verify-diagnostics

!q = !quant.uniform<i8:f32, 5.000000e-01:3>

func.func @select_c1_condition(%a: tensor<2x3x!q>, %b: tensor<3x!q>, %c: tensor<2x1xi8>) {
  // expected-error@+1 {{'qnn.select' op (C1) condition element type: got i8, expected i1}}
  %result = "qnn.select"(%a, %b, %c) : (tensor<2x3x!q>, tensor<3x!q>, tensor<2x1xi8>) -> tensor<2x3x!q>
  return
}

// -----

!q = !quant.uniform<i8:f32, 5.000000e-01:3>

func.func @select_c2_operands(%a: tensor<2x3x!q>, %b: tensor<4x!q>, %c: tensor<2x1xi1>) {
  // expected-error@+1 {{'qnn.select' op (C2) shapes [2, 3] and [4] do not broadcast: 3 against 4}}
  %result = "qnn.select"(%a, %b, %c) : (tensor<2x3x!q>, tensor<4x!q>, tensor<2x1xi1>) -> tensor<2x3x!q>
  return
}

// -----

!q = !quant.uniform<i8:f32, 5.000000e-01:3>

func.func @select_c2_result(%a: tensor<2x3x!q>, %b: tensor<3x!q>, %c: tensor<2x1xi1>) {
  // expected-error@+1 {{'qnn.select' op (C2) result shape: got [2, 4], expected [2, 3]}}
  %result = "qnn.select"(%a, %b, %c) : (tensor<2x3x!q>, tensor<3x!q>, tensor<2x1xi1>) -> tensor<2x4x!q>
  return
}

// -----

!q = !quant.uniform<i8:f32, 5.000000e-01:3>

func.func @select_c3_mixed(%a: tensor<2x3x!q>, %b: tensor<3xf32>, %c: tensor<2x1xi1>) {
  // expected-error@+1 {{'qnn.select' op (C3) on_true, on_false and result must be all quantized or have the same element type, got on_true quantized i8, on_false f32, result quantized i8}}
  %result = "qnn.select"(%a, %b, %c) : (tensor<2x3x!q>, tensor<3xf32>, tensor<2x1xi1>) -> tensor<2x3x!q>
  return
}
