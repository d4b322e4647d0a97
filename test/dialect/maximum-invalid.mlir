// RUN: qopt %s --split-input-file --verify-diagnostics

!q = !quant.uniform<i8:f32, 5.000000e-01:3>

func.func @maximum_c0_operands(%x: tensor<4x!q>) {
  // expected-error@+1 {{'qnn.maximum' op (C0) got 1 operands, expected 2}}
  %result = "qnn.maximum"(%x) : (tensor<4x!q>) -> tensor<4x!q>
  return
}

// -----

!q = !quant.uniform<i8:f32, 5.000000e-01:3>

func.func @maximum_c1_mixed(%x: tensor<4x!q>, %y: tensor<4xf32>) {
  // expected-error@+1 {{'qnn.maximum' op (C1) lhs, rhs and result must be all f32 or all quantized, got lhs quantized i8, rhs f32, result quantized i8}}
  %result = "qnn.maximum"(%x, %y) : (tensor<4x!q>, tensor<4xf32>) -> tensor<4x!q>
  return
}

// -----

!q = !quant.uniform<i8:f32, 5.000000e-01:3>
!a = !quant.uniform<i32:f32, 1.250000e-01>

func.func @maximum_c1_storage(%x: tensor<4x!q>, %y: tensor<4x!a>) {
  // expected-error@+1 {{'qnn.maximum' op (C1) rhs: got storage type i32, expected i8, u8 or i16}}
  %result = "qnn.maximum"(%x, %y) : (tensor<4x!q>, tensor<4x!a>) -> tensor<4x!q>
  return
}

// -----

func.func @maximum_c1_integers(%x: tensor<4xi32>, %y: tensor<4xi64>) {
  // expected-error@+1 {{'qnn.maximum' op (C1) lhs, rhs and result: got lhs i32, rhs i64, result i32, expected one of i8, i16, i32, i64 for all}}
  %result = "qnn.maximum"(%x, %y) : (tensor<4xi32>, tensor<4xi64>) -> tensor<4xi32>
  return
}

// -----

!q = !quant.uniform<i8:f32, 5.000000e-01:3>

func.func @maximum_c2_shape(%x: tensor<2x4x!q>, %y: tensor<3x!q>) {
  // expected-error@+1 {{'qnn.maximum' op (C2) shapes [2, 4] and [3] do not broadcast: 4 against 3}}
  %result = "qnn.maximum"(%x, %y) : (tensor<2x4x!q>, tensor<3x!q>) -> tensor<2x4x!q>
  return
}

// -----

!q = !quant.uniform<i8:f32, 5.000000e-01:3>

func.func @maximum_c2_result(%x: tensor<2x4x!q>, %y: tensor<4x!q>) {
  // expected-error@+1 {{'qnn.maximum' op (C2) result shape: got [4], expected [2, 4]}}
  %result = "qnn.maximum"(%x, %y) : (tensor<2x4x!q>, tensor<4x!q>) -> tensor<4x!q>
  return
}
