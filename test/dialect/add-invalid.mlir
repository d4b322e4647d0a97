// RUN: qopt %s --split-input-file --verify-diagnostics

!q = !quant.uniform<i8:f32, 5.000000e-01:3>

func.func @add_c0_operands(%lhs: tensor<2x4x!q>) {
  // expected-error@+1 {{'qnn.add' op (C0) got 1 operands, expected 2}}
  %result = "qnn.add"(%lhs) {clamp = array<f32>} : (tensor<2x4x!q>) -> tensor<2x4x!q>
  return
}

// -----

!q = !quant.uniform<i8:f32, 5.000000e-01:3>

func.func @add_c1_mixed(%lhs: tensor<2x4x!q>, %rhs: tensor<2x4xf32>) {
  // expected-error@+1 {{'qnn.add' op (C1) lhs, rhs and result must be all f32 or all quantized, got lhs quantized i8, rhs f32, result quantized i8}}
  %result = "qnn.add"(%lhs, %rhs) {clamp = array<f32>} : (tensor<2x4x!q>, tensor<2x4xf32>) -> tensor<2x4x!q>
  return
}

// -----

!q = !quant.uniform<i8:f32, 5.000000e-01:3>
!c = !quant.uniform<i8:f32:0, {2.500000e-01,5.000000e-01}>

func.func @add_c1_per_axis(%lhs: tensor<2x4x!q>, %rhs: tensor<2x4x!c>) {
  // expected-error@+1 {{'qnn.add' op (C1) rhs must be quantized per-tensor, got quantized i8 per-axis 0}}
  %result = "qnn.add"(%lhs, %rhs) {clamp = array<f32>} : (tensor<2x4x!q>, tensor<2x4x!c>) -> tensor<2x4x!q>
  return
}

// -----

!b = !quant.uniform<i32:f32, 1.250000e-01>
!r = !quant.uniform<i8:f32, 2.500000e-01:-1>
!q = !quant.uniform<i8:f32, 5.000000e-01:3>

func.func @add_c1_storage(%lhs: tensor<2x4x!b>, %rhs: tensor<2x4x!r>) {
  // expected-error@+1 {{'qnn.add' op (C1) lhs: got storage type i32, expected i8, u8 or i16}}
  %result = "qnn.add"(%lhs, %rhs) {clamp = array<f32>} : (tensor<2x4x!b>, tensor<2x4x!r>) -> tensor<2x4x!q>
  return
}

// -----

!q = !quant.uniform<i8:f32, 5.000000e-01:3>
!h = !quant.uniform<i16:f32, 7.812500e-03>

func.func @add_c2_widths(%lhs: tensor<2x4x!q>, %rhs: tensor<2x4x!h>) {
  // expected-error@+1 {{'qnn.add' op (C2) storage types must be equally wide, got lhs quantized i8, rhs quantized i16, result quantized i8}}
  %result = "qnn.add"(%lhs, %rhs) {clamp = array<f32>} : (tensor<2x4x!q>, tensor<2x4x!h>) -> tensor<2x4x!q>
  return
}

// -----

!q = !quant.uniform<i8:f32, 5.000000e-01:3>

func.func @add_c3_no_broadcast(%lhs: tensor<2x4x!q>, %rhs: tensor<3x!q>) {
  // expected-error@+1 {{'qnn.add' op (C3) shapes [2, 4] and [3] do not broadcast: 4 against 3}}
  %result = "qnn.add"(%lhs, %rhs) {clamp = array<f32>} : (tensor<2x4x!q>, tensor<3x!q>) -> tensor<2x4x!q>
  return
}

// -----

!q = !quant.uniform<i8:f32, 5.000000e-01:3>

func.func @add_c3_result_shape(%lhs: tensor<2x4x!q>, %rhs: tensor<4x!q>) {
  // expected-error@+1 {{'qnn.add' op (C3) result shape: got [4], expected [2, 4]}}
  %result = "qnn.add"(%lhs, %rhs) {clamp = array<f32>} : (tensor<2x4x!q>, tensor<4x!q>) -> tensor<4x!q>
  return
}

// -----

!q = !quant.uniform<i8:f32, 5.000000e-01:3>
!r = !quant.uniform<i8:f32, 2.500000e-01:-1>

func.func @add_c4_clamp(%lhs: tensor<2x4x!q>, %rhs: tensor<2x4x!r>) {
  // expected-error@+1 {{'qnn.add' op (C4) clamp: got [1.0, 0.0], expected low <= high}}
  %result = "qnn.add"(%lhs, %rhs) {clamp = array<f32: 1.000000e+00, 0.000000e+00>} : (tensor<2x4x!q>, tensor<2x4x!r>) -> tensor<2x4x!q>
  return
}

// -----

!b = !quant.uniform<i32:f32, 1.250000e-01>
!c = !quant.uniform<i32:f32, 2.500000e-01>

func.func @add_c1_accumulators_of_two_scales(%lhs: tensor<4x!b>, %rhs: tensor<4x!c>) {
  // expected-error@+1 {{'qnn.add' op (C1) rhs in i32: got scale 0.25 and zero point 0, expected lhs's scale and zero point 0}}
  %result = "qnn.add"(%lhs, %rhs) {clamp = array<f32>} : (tensor<4x!b>, tensor<4x!c>) -> tensor<4x!b>
  return
}

// -----

!b = !quant.uniform<i32:f32, 1.250000e-01:7>

func.func @add_c1_accumulators_around_seven(%lhs: tensor<4x!b>, %rhs: tensor<4x!b>) {
  // expected-error@+1 {{'qnn.add' op (C1) lhs in i32: got scale 0.125 and zero point 7, expected lhs's scale and zero point 0}}
  %result = "qnn.add"(%lhs, %rhs) {clamp = array<f32>} : (tensor<4x!b>, tensor<4x!b>) -> tensor<4x!b>
  return
}
