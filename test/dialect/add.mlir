// RUN: qopt %s | qopt | %filecheck

!q = !quant.uniform<i8:f32, 5.000000e-01:3>
!r = !quant.uniform<i8:f32, 2.500000e-01:-1>
!u = !quant.uniform<u8:f32, 5.000000e-01:128>
!h = !quant.uniform<i16:f32, 7.812500e-03>

// Three sets of parameters, fused relu6
// CHECK-LABEL: func.func @add_int8(
// CHECK-SAME:    %[[LHS:[a-z0-9]+]]: tensor<2x4x!quant.uniform<i8:f32, 5.000000e-01:3>>
// CHECK-SAME:    %[[RHS:[a-z0-9]+]]: tensor<2x4x!quant.uniform<i8:f32, 2.500000e-01:-1>>
// CHECK:         "qnn.add"(%[[LHS]], %[[RHS]]) {clamp = array<f32: 0.000000e+00, 6.000000e+00>}
// CHECK-SAME:      : (tensor<2x4x!quant.uniform<i8:f32, 5.000000e-01:3>>, tensor<2x4x!quant.uniform<i8:f32, 2.500000e-01:-1>>) -> tensor<2x4x!quant.uniform<i8:f32, 5.000000e-01:3>>
func.func @add_int8(%lhs: tensor<2x4x!q>, %rhs: tensor<2x4x!r>) -> tensor<2x4x!q> {
  %result = "qnn.add"(%lhs, %rhs) {clamp = array<f32: 0.000000e+00, 6.000000e+00>} : (tensor<2x4x!q>, tensor<2x4x!r>) -> tensor<2x4x!q>
  return %result : tensor<2x4x!q>
}

// uint8 and int8 mix; shapes broadcast as in numpy
// CHECK-LABEL: func.func @add_broadcast(
// CHECK-SAME:    %[[LHS:[a-z0-9]+]]: tensor<2x1x4x!quant.uniform<u8:f32, 5.000000e-01:128>>
// CHECK-SAME:    %[[RHS:[a-z0-9]+]]: tensor<3x1x!quant.uniform<i8:f32, 5.000000e-01:3>>
// CHECK:         "qnn.add"(%[[LHS]], %[[RHS]]) {clamp = array<f32>}
// CHECK-SAME:      : (tensor<2x1x4x!quant.uniform<u8:f32, 5.000000e-01:128>>, tensor<3x1x!quant.uniform<i8:f32, 5.000000e-01:3>>) -> tensor<2x3x4x!quant.uniform<u8:f32, 5.000000e-01:128>>
func.func @add_broadcast(%lhs: tensor<2x1x4x!u>, %rhs: tensor<3x1x!q>) -> tensor<2x3x4x!u> {
  %result = "qnn.add"(%lhs, %rhs) {clamp = array<f32>} : (tensor<2x1x4x!u>, tensor<3x1x!q>) -> tensor<2x3x4x!u>
  return %result : tensor<2x3x4x!u>
}

// CHECK-LABEL: func.func @add_int16(
// CHECK-SAME:    %[[LHS:[a-z0-9]+]]: tensor<4x!quant.uniform<i16:f32, 7.812500e-03>>
// CHECK-SAME:    %[[RHS:[a-z0-9]+]]: tensor<!quant.uniform<i16:f32, 7.812500e-03>>
// CHECK:         "qnn.add"(%[[LHS]], %[[RHS]]) {clamp = array<f32>}
// CHECK-SAME:      : (tensor<4x!quant.uniform<i16:f32, 7.812500e-03>>, tensor<!quant.uniform<i16:f32, 7.812500e-03>>) -> tensor<4x!quant.uniform<i16:f32, 7.812500e-03>>
func.func @add_int16(%lhs: tensor<4x!h>, %rhs: tensor<!h>) -> tensor<4x!h> {
  %result = "qnn.add"(%lhs, %rhs) {clamp = array<f32>} : (tensor<4x!h>, tensor<!h>) -> tensor<4x!h>
  return %result : tensor<4x!h>
}

// CHECK-LABEL: func.func @add_float(
// CHECK-SAME:    %[[LHS:[a-z0-9]+]]: tensor<?x4xf32>
// CHECK-SAME:    %[[RHS:[a-z0-9]+]]: tensor<4xf32>
// CHECK:         "qnn.add"(%[[LHS]], %[[RHS]]) {clamp = array<f32>}
// CHECK-SAME:      : (tensor<?x4xf32>, tensor<4xf32>) -> tensor<?x4xf32>
func.func @add_float(%lhs: tensor<?x4xf32>, %rhs: tensor<4xf32>) -> tensor<?x4xf32> {
  %result = "qnn.add"(%lhs, %rhs) {clamp = array<f32>} : (tensor<?x4xf32>, tensor<4xf32>) -> tensor<?x4xf32>
  return %result : tensor<?x4xf32>
}

// Accumulators of one scale.
// CHECK-LABEL: func.func @add_accumulators(
// CHECK-SAME:    %[[A:[a-z0-9]+]]: tensor<2x4x!quant.uniform<i32:f32, 1.250000e-01>>
// CHECK-SAME:    %[[B:[a-z0-9]+]]: tensor<4x!quant.uniform<i32:f32, 1.250000e-01>>
// CHECK:         "qnn.add"(%[[A]], %[[B]]) {clamp = array<f32>}
func.func @add_accumulators(%a: tensor<2x4x!quant.uniform<i32:f32, 0.125>>, %b: tensor<4x!quant.uniform<i32:f32, 0.125>>) -> tensor<2x4x!quant.uniform<i32:f32, 0.125>> {
  %result = "qnn.add"(%a, %b) {clamp = array<f32>} : (tensor<2x4x!quant.uniform<i32:f32, 0.125>>, tensor<4x!quant.uniform<i32:f32, 0.125>>) -> tensor<2x4x!quant.uniform<i32:f32, 0.125>>
  return %result : tensor<2x4x!quant.uniform<i32:f32, 0.125>>
}
