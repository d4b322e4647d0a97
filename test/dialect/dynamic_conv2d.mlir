// RUN: qopt %s | qopt | %filecheck

!w = !quant.uniform<i8:f32, 2.500000e-01>
!c = !quant.uniform<i8:f32:0, {2.500000e-01,5.000000e-01}>

// CHECK-LABEL: func.func @dynamic_conv2d(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<1x8x8x2xf32>
// CHECK-SAME:    %[[W:[a-z0-9]+]]: tensor<4x3x3x2x!quant.uniform<i8:f32, 2.500000e-01>>
// CHECK-SAME:    %[[B:[a-z0-9]+]]: tensor<4xf32>
// CHECK:         "qnn.dynamic_conv2d"(%[[X]], %[[W]], %[[B]]) {asymmetric = false, clamp = array<f32>, dilations = array<i64: 1, 1>, groups = 1 : i64, operandSegmentSizes = array<i32: 1, 1, 1>, padding = array<i64: 1, 1, 1, 1>, scales_first = true, strides = array<i64: 1, 1>}
func.func @dynamic_conv2d(%x: tensor<1x8x8x2xf32>, %w: tensor<4x3x3x2x!w>, %b: tensor<4xf32>) -> tensor<1x8x8x4xf32> {
  %result = "qnn.dynamic_conv2d"(%x, %w, %b) {asymmetric = false, clamp = array<f32>, dilations = array<i64: 1, 1>, groups = 1 : i64, operandSegmentSizes = array<i32: 1, 1, 1>, padding = array<i64: 1, 1, 1, 1>, scales_first = true, strides = array<i64: 1, 1>} : (tensor<1x8x8x2xf32>, tensor<4x3x3x2x!w>, tensor<4xf32>) -> tensor<1x8x8x4xf32>
  return %result : tensor<1x8x8x4xf32>
}

// Depthwise, per channel, without a bias
// CHECK-LABEL: func.func @dynamic_conv2d_depthwise(
// CHECK:         "qnn.dynamic_conv2d"{{.*}} groups = 2 : i64
func.func @dynamic_conv2d_depthwise(%x: tensor<1x8x8x2xf32>, %w: tensor<2x3x3x1x!c>) -> tensor<1x6x6x2xf32> {
  %result = "qnn.dynamic_conv2d"(%x, %w) {asymmetric = true, clamp = array<f32>, dilations = array<i64: 1, 1>, groups = 2 : i64, operandSegmentSizes = array<i32: 1, 1, 0>, padding = array<i64: 0, 0, 0, 0>, scales_first = true, strides = array<i64: 1, 1>} : (tensor<1x8x8x2xf32>, tensor<2x3x3x1x!c>) -> tensor<1x6x6x2xf32>
  return %result : tensor<1x6x6x2xf32>
}
