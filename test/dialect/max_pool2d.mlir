// RUN: qopt %s | qopt | %filecheck

!q = !quant.uniform<i8:f32, 5.000000e-01:3>
!r = !quant.uniform<i8:f32, 2.500000e-01:-1>

// CHECK-LABEL: func.func @max_pool2d_int8(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<1x8x8x2x!quant.uniform<i8:f32, 5.000000e-01:3>>
// CHECK:         "qnn.max_pool2d"(%[[X]]) {clamp = array<f32>, padding = array<i64: 0, 0, 0, 0>, strides = array<i64: 2, 2>, window = array<i64: 2, 2>}
// CHECK-SAME:      : (tensor<1x8x8x2x!quant.uniform<i8:f32, 5.000000e-01:3>>) -> tensor<1x4x4x2x!quant.uniform<i8:f32, 5.000000e-01:3>>
func.func @max_pool2d_int8(%x: tensor<1x8x8x2x!q>) -> tensor<1x4x4x2x!q> {
  %result = "qnn.max_pool2d"(%x) {clamp = array<f32>, padding = array<i64: 0, 0, 0, 0>, strides = array<i64: 2, 2>, window = array<i64: 2, 2>} : (tensor<1x8x8x2x!q>) -> tensor<1x4x4x2x!q>
  return %result : tensor<1x4x4x2x!q>
}

// SAME padding, fused relu6, other parameters
// CHECK-LABEL: func.func @max_pool2d_padded(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<1x8x8x2x!quant.uniform<i8:f32, 5.000000e-01:3>>
// CHECK:         "qnn.max_pool2d"(%[[X]]) {clamp = array<f32: 0.000000e+00, 6.000000e+00>, padding = array<i64: 0, 1, 0, 1>, strides = array<i64: 2, 2>, window = array<i64: 3, 3>}
// CHECK-SAME:      : (tensor<1x8x8x2x!quant.uniform<i8:f32, 5.000000e-01:3>>) -> tensor<1x4x4x2x!quant.uniform<i8:f32, 2.500000e-01:-1>>
func.func @max_pool2d_padded(%x: tensor<1x8x8x2x!q>) -> tensor<1x4x4x2x!r> {
  %result = "qnn.max_pool2d"(%x) {clamp = array<f32: 0.000000e+00, 6.000000e+00>, padding = array<i64: 0, 1, 0, 1>, strides = array<i64: 2, 2>, window = array<i64: 3, 3>} : (tensor<1x8x8x2x!q>) -> tensor<1x4x4x2x!r>
  return %result : tensor<1x4x4x2x!r>
}

// CHECK-LABEL: func.func @max_pool2d_float(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<?x?x8x2xf32>
// CHECK:         "qnn.max_pool2d"(%[[X]]) {clamp = array<f32>, padding = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 2>, window = array<i64: 2, 2>}
// CHECK-SAME:      : (tensor<?x?x8x2xf32>) -> tensor<?x?x4x2xf32>
func.func @max_pool2d_float(%x: tensor<?x?x8x2xf32>) -> tensor<?x?x4x2xf32> {
  %result = "qnn.max_pool2d"(%x) {clamp = array<f32>, padding = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 2>, window = array<i64: 2, 2>} : (tensor<?x?x8x2xf32>) -> tensor<?x?x4x2xf32>
  return %result : tensor<?x?x4x2xf32>
}
