// RUN: qopt %s --split-input-file --verify-diagnostics

!q = !quant.uniform<i8:f32, 5.000000e-01:3>

func.func @unary_c0_operands(%x: tensor<4x!q>, %y: tensor<4x!q>) {
  // expected-error@+1 {{'qnn.unary' op (C0) got 2 operands, expected 1}}
  %result = "qnn.unary"(%x, %y) {function = "abs"} : (tensor<4x!q>, tensor<4x!q>) -> tensor<4x!q>
  return
}

// -----

!q = !quant.uniform<i8:f32, 5.000000e-01:3>

func.func @unary_c0_function_kind(%x: tensor<4x!q>) {
  // expected-error@+1 {{'qnn.unary' op (C0) attribute 'function': got 1 : i64, expected a string}}
  %result = "qnn.unary"(%x) {function = 1 : i64} : (tensor<4x!q>) -> tensor<4x!q>
  return
}

// -----

!q = !quant.uniform<i8:f32, 5.000000e-01:3>

func.func @unary_c1_shape(%x: tensor<4x!q>) {
  // expected-error@+1 {{'qnn.unary' op (C1) result shape: got [5], expected [4]}}
  %result = "qnn.unary"(%x) {function = "abs"} : (tensor<4x!q>) -> tensor<5x!q>
  return
}

// -----

!q = !quant.uniform<i8:f32, 5.000000e-01:3>

func.func @unary_c2_function(%x: tensor<4x!q>) {
  // expected-error@+1 {{'qnn.unary' op (C2) function: got 'tan', expected abs, ceil}}
  %result = "qnn.unary"(%x) {function = "tan"} : (tensor<4x!q>) -> tensor<4x!q>
  return
}

// -----

!q = !quant.uniform<i8:f32, 5.000000e-01:3>

func.func @unary_c3_mixed(%x: tensor<4xf32>) {
  // expected-error@+1 {{'qnn.unary' op (C3) input and result must be all f32 or all quantized, got input f32, result quantized i8}}
  %result = "qnn.unary"(%x) {function = "exp"} : (tensor<4xf32>) -> tensor<4x!q>
  return
}

// -----

!q = !quant.uniform<i8:f32, 5.000000e-01:3>
!a = !quant.uniform<i32:f32, 1.250000e-01>

func.func @unary_c3_storage(%x: tensor<4x!q>) {
  // expected-error@+1 {{'qnn.unary' op (C3) result: got storage type i32, expected i8, u8 or i16}}
  %result = "qnn.unary"(%x) {function = "exp"} : (tensor<4x!q>) -> tensor<4x!a>
  return
}

// -----

func.func @unary_c3_real_function_of_integers(%x: tensor<4xi32>) {
  // expected-error@+1 {{'qnn.unary' op (C3) exp of i32, expected f32 or a quantized type}}
  %result = "qnn.unary"(%x) {function = "exp"} : (tensor<4xi32>) -> tensor<4xi32>
  return
}

// -----

func.func @unary_c3_logical_not_of_integers(%x: tensor<4xi32>) {
  // expected-error@+1 {{'qnn.unary' op (C3) input element type: got i32, expected i1}}
  %result = "qnn.unary"(%x) {function = "logical_not"} : (tensor<4xi32>) -> tensor<4xi32>
  return
}

// -----

func.func @unary_c3_result_type(%x: tensor<4xi32>) {
  // expected-error@+1 {{'qnn.unary' op (C3) result element type: got i64, expected the input}}
  %result = "qnn.unary"(%x) {function = "neg"} : (tensor<4xi32>) -> tensor<4xi64>
  return
}
