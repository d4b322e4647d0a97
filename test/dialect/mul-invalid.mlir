// RUN: qopt %s --split-input-file --verify-diagnostics

!q = !quant.uniform<i8:f32, 5.000000e-01:3>

func.func @mul_c0_operands(%lhs: tensor<2x4x!q>) {
  // expected-error@+1 {{'qnn.mul' op (C0) got 1 operands, expected 2}}
  %result = "qnn.mul"(%lhs) {clamp = array<f32>} : (tensor<2x4x!q>) -> tensor<2x4x!q>
  return
}

// -----

!q = !quant.uniform<i8:f32, 5.000000e-01:3>

func.func @mul_c1_mixed(%lhs: tensor<2x4x!q>, %rhs: tensor<2x4xf32>) {
  // expected-error@+1 {{'qnn.mul' op (C1) lhs, rhs and result must be all f32 or all quantized, got lhs quantized i8, rhs f32, result quantized i8}}
  %result = "qnn.mul"(%lhs, %rhs) {clamp = array<f32>} : (tensor<2x4x!q>, tensor<2x4xf32>) -> tensor<2x4x!q>
  return
}

// -----

!q = !quant.uniform<i8:f32, 5.000000e-01:3>
!c = !quant.uniform<i8:f32:0, {2.500000e-01,5.000000e-01}>

func.func @mul_c1_per_axis(%lhs: tensor<2x4x!q>, %rhs: tensor<2x4x!c>) {
  // expected-error@+1 {{'qnn.mul' op (C1) rhs must be quantized per-tensor, got quantized i8 per-axis 0}}
  %result = "qnn.mul"(%lhs, %rhs) {clamp = array<f32>} : (tensor<2x4x!q>, tensor<2x4x!c>) -> tensor<2x4x!q>
  return
}

// -----

!b = !quant.uniform<i32:f32, 1.250000e-01>
!r = !quant.uniform<i8:f32, 2.500000e-01:-1>
!q = !quant.uniform<i8:f32, 5.000000e-01:3>

func.func @mul_c1_storage(%lhs: tensor<2x4x!b>, %rhs: tensor<2x4x!r>) {
  // expected-error@+1 {{'qnn.mul' op (C1) lhs: got storage type i32, expected i8, u8 or i16}}
  %result = "qnn.mul"(%lhs, %rhs) {clamp = array<f32>} : (tensor<2x4x!b>, tensor<2x4x!r>) -> tensor<2x4x!q>
  return
}

// -----

!q = !quant.uniform<i8:f32, 5.000000e-01:3>
!h = !quant.uniform<i16:f32, 7.812500e-03>

func.func @mul_c2_widths(%lhs: tensor<2x4x!q>, %rhs: tensor<2x4x!h>) {
  // expected-error@+1 {{'qnn.mul' op (C2) storage types must be equally wide, got lhs quantized i8, rhs quantized i16, result quantized i8}}
  %result = "qnn.mul"(%lhs, %rhs) {clamp = array<f32>} : (tensor<2x4x!q>, tensor<2x4x!h>) -> tensor<2x4x!q>
  return
}

// -----

!q = !quant.uniform<i8:f32, 5.000000e-01:3>

func.func @mul_c3_no_broadcast(%lhs: tensor<2x4x!q>, %rhs: tensor<3x!q>) {
  // expected-error@+1 {{'qnn.mul' op (C3) shapes [2, 4] and [3] do not broadcast: 4 against 3}}
  %result = "qnn.mul"(%lhs, %rhs) {clamp = array<f32>} : (tensor<2x4x!q>, tensor<3x!q>) -> tensor<2x4x!q>
  return
}

// -----

!q = !quant.uniform<i8:f32, 5.000000e-01:3>

func.func @mul_c3_result_shape(%lhs: tensor<2x4x!q>, %rhs: tensor<4x!q>) {
  // expected-error@+1 {{'qnn.mul' op (C3) result shape: got [4], expected [2, 4]}}
  %result = "qnn.mul"(%lhs, %rhs) {clamp = array<f32>} : (tensor<2x4x!q>, tensor<4x!q>) -> tensor<4x!q>
  return
}

// -----

!q = !quant.uniform<i8:f32, 5.000000e-01:3>
!r = !quant.uniform<i8:f32, 2.500000e-01:-1>

func.func @mul_c4_clamp(%lhs: tensor<2x4x!q>, %rhs: tensor<2x4x!r>) {
  // expected-error@+1 {{'qnn.mul' op (C4) clamp: got [1.0, 0.0], expected low <= high}}
  %result = "qnn.mul"(%lhs, %rhs) {clamp = array<f32: 1.000000e+00, 0.000000e+00>} : (tensor<2x4x!q>, tensor<2x4x!r>) -> tensor<2x4x!q>
  return
}

// -----

!b = !quant.uniform<i32:f32, 1.250000e-01>

func.func @mul_c1_accumulators(%lhs: tensor<4x!b>, %rhs: tensor<4x!b>) {
  // expected-error@+1 {{'qnn.mul' op (C1) lhs: got storage type i32, expected i8, u8 or i16}}
  %result = "qnn.mul"(%lhs, %rhs) {clamp = array<f32>} : (tensor<4x!b>, tensor<4x!b>) -> tensor<4x!b>
  return
}
