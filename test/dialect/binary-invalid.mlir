// RUN: qopt %s --split-input-file --verify-diagnostics

!q = !quant.uniform<i8:f32, 5.000000e-01:3>

func.func @binary_c0_operands(%x: tensor<4x!q>) {
  // expected-error@+1 {{'qnn.binary' op (C0) got 1 operands, expected 2}}
  %result = "qnn.binary"(%x) {function = "div"} : (tensor<4x!q>) -> tensor<4x!q>
  return
}

// -----

!q = !quant.uniform<i8:f32, 5.000000e-01:3>

func.func @binary_c1_function(%x: tensor<4x!q>, %y: tensor<4x!q>) {
  // expected-error@+1 {{'qnn.binary' op (C1) function: got 'mod', expected atan2}}
  %result = "qnn.binary"(%x, %y) {function = "mod"} : (tensor<4x!q>, tensor<4x!q>) -> tensor<4x!q>
  return
}

// -----

!q = !quant.uniform<i8:f32, 5.000000e-01:3>

func.func @binary_c2_mixed(%x: tensor<4x!q>, %y: tensor<4xf32>) {
  // expected-error@+1 {{'qnn.binary' op (C2) lhs, rhs and result must be all f32 or all quantized, got lhs quantized i8, rhs f32, result quantized i8}}
  %result = "qnn.binary"(%x, %y) {function = "div"} : (tensor<4x!q>, tensor<4xf32>) -> tensor<4x!q>
  return
}

// -----

!h = !quant.uniform<i16:f32, 7.812500e-03>

func.func @binary_c2_storage(%x: tensor<4x!h>, %y: tensor<4x!h>) {
  // expected-error@+1 {{'qnn.binary' op (C2) lhs: got storage type i16, expected i8 or u8}}
  %result = "qnn.binary"(%x, %y) {function = "squared_difference"} : (tensor<4x!h>, tensor<4x!h>) -> tensor<4x!h>
  return
}

// -----

func.func @binary_c2_real_function(%x: tensor<4xi32>, %y: tensor<4xi32>) {
  // expected-error@+1 {{'qnn.binary' op (C2) lhs, rhs and result: got lhs i32, rhs i32, result i32, expected one of f32 for all}}
  %result = "qnn.binary"(%x, %y) {function = "atan2"} : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  return
}

// -----

!q = !quant.uniform<i8:f32, 5.000000e-01:3>

func.func @binary_c3_shape(%x: tensor<2x4x!q>, %y: tensor<3x!q>) {
  // expected-error@+1 {{'qnn.binary' op (C3) shapes [2, 4] and [3] do not broadcast: 4 against 3}}
  %result = "qnn.binary"(%x, %y) {function = "div"} : (tensor<2x4x!q>, tensor<3x!q>) -> tensor<2x4x!q>
  return
}
