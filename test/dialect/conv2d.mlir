// RUN: qopt %s | qopt | %filecheck

!q = !quant.uniform<i8:f32, 5.000000e-01:3>
!c = !quant.uniform<i8:f32:0, {2.500000e-01,5.000000e-01}>
!bc = !quant.uniform<i32:f32:0, {1.250000e-01,2.500000e-01}>
!r = !quant.uniform<i8:f32, 2.500000e-01:-1>
!u = !quant.uniform<u8:f32, 5.000000e-01:128>
!v = !quant.uniform<u8:f32, 2.500000e-01:120>
!w = !quant.uniform<i8:f32, 2.500000e-01>
!b = !quant.uniform<i32:f32, 1.250000e-01>

// int8, one scale per output channel, bias, relu6
// CHECK-LABEL: func.func @conv2d_per_channel(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<1x8x8x2x!quant.uniform<i8:f32, 5.000000e-01:3>>
// CHECK-SAME:    %[[W:[a-z0-9]+]]: tensor<2x3x3x2x!quant.uniform<i8:f32:0, {2.500000e-01,5.000000e-01}>>
// CHECK-SAME:    %[[B:[a-z0-9]+]]: tensor<2x!quant.uniform<i32:f32:0, {1.250000e-01,2.500000e-01}>>
// CHECK:         "qnn.conv2d"(%[[X]], %[[W]], %[[B]]) {clamp = array<f32: 0.000000e+00, 6.000000e+00>, dilations = array<i64: 1, 1>, groups = 1 : i64, operandSegmentSizes = array<i32: 1, 1, 1>, padding = array<i64: 1, 1, 1, 1>, strides = array<i64: 1, 1>}
// CHECK-SAME:      : (tensor<1x8x8x2x!quant.uniform<i8:f32, 5.000000e-01:3>>, tensor<2x3x3x2x!quant.uniform<i8:f32:0, {2.500000e-01,5.000000e-01}>>, tensor<2x!quant.uniform<i32:f32:0, {1.250000e-01,2.500000e-01}>>) -> tensor<1x8x8x2x!quant.uniform<i8:f32, 2.500000e-01:-1>>
func.func @conv2d_per_channel(%x: tensor<1x8x8x2x!q>, %w: tensor<2x3x3x2x!c>, %b: tensor<2x!bc>) -> tensor<1x8x8x2x!r> {
  %result = "qnn.conv2d"(%x, %w, %b) {clamp = array<f32: 0.000000e+00, 6.000000e+00>, dilations = array<i64: 1, 1>, groups = 1 : i64, operandSegmentSizes = array<i32: 1, 1, 1>, padding = array<i64: 1, 1, 1, 1>, strides = array<i64: 1, 1>} : (tensor<1x8x8x2x!q>, tensor<2x3x3x2x!c>, tensor<2x!bc>) -> tensor<1x8x8x2x!r>
  return %result : tensor<1x8x8x2x!r>
}

// uint8, asymmetric weights, no bias, strides and SAME padding
// CHECK-LABEL: func.func @conv2d_uint8(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<1x8x8x2x!quant.uniform<u8:f32, 5.000000e-01:128>>
// CHECK-SAME:    %[[W:[a-z0-9]+]]: tensor<3x3x3x2x!quant.uniform<u8:f32, 2.500000e-01:120>>
// CHECK:         "qnn.conv2d"(%[[X]], %[[W]]) {clamp = array<f32>, dilations = array<i64: 1, 1>, groups = 1 : i64, operandSegmentSizes = array<i32: 1, 1, 0>, padding = array<i64: 0, 1, 0, 1>, strides = array<i64: 2, 2>}
// CHECK-SAME:      : (tensor<1x8x8x2x!quant.uniform<u8:f32, 5.000000e-01:128>>, tensor<3x3x3x2x!quant.uniform<u8:f32, 2.500000e-01:120>>) -> tensor<1x4x4x3x!quant.uniform<u8:f32, 5.000000e-01:128>>
func.func @conv2d_uint8(%x: tensor<1x8x8x2x!u>, %w: tensor<3x3x3x2x!v>) -> tensor<1x4x4x3x!u> {
  %result = "qnn.conv2d"(%x, %w) {clamp = array<f32>, dilations = array<i64: 1, 1>, groups = 1 : i64, operandSegmentSizes = array<i32: 1, 1, 0>, padding = array<i64: 0, 1, 0, 1>, strides = array<i64: 2, 2>} : (tensor<1x8x8x2x!u>, tensor<3x3x3x2x!v>) -> tensor<1x4x4x3x!u>
  return %result : tensor<1x4x4x3x!u>
}

// groups = channels: depthwise, dilated
// CHECK-LABEL: func.func @conv2d_depthwise(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<1x8x8x2x!quant.uniform<i8:f32, 5.000000e-01:3>>
// CHECK-SAME:    %[[W:[a-z0-9]+]]: tensor<4x3x3x1x!quant.uniform<i8:f32, 2.500000e-01>>
// CHECK-SAME:    %[[B:[a-z0-9]+]]: tensor<4x!quant.uniform<i32:f32, 1.250000e-01>>
// CHECK:         "qnn.conv2d"(%[[X]], %[[W]], %[[B]]) {clamp = array<f32>, dilations = array<i64: 2, 2>, groups = 2 : i64, operandSegmentSizes = array<i32: 1, 1, 1>, padding = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>}
// CHECK-SAME:      : (tensor<1x8x8x2x!quant.uniform<i8:f32, 5.000000e-01:3>>, tensor<4x3x3x1x!quant.uniform<i8:f32, 2.500000e-01>>, tensor<4x!quant.uniform<i32:f32, 1.250000e-01>>) -> tensor<1x4x4x4x!quant.uniform<i8:f32, 5.000000e-01:3>>
func.func @conv2d_depthwise(%x: tensor<1x8x8x2x!q>, %w: tensor<4x3x3x1x!w>, %b: tensor<4x!b>) -> tensor<1x4x4x4x!q> {
  %result = "qnn.conv2d"(%x, %w, %b) {clamp = array<f32>, dilations = array<i64: 2, 2>, groups = 2 : i64, operandSegmentSizes = array<i32: 1, 1, 1>, padding = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>} : (tensor<1x8x8x2x!q>, tensor<4x3x3x1x!w>, tensor<4x!b>) -> tensor<1x4x4x4x!q>
  return %result : tensor<1x4x4x4x!q>
}

// The accumulator itself, in the parameters of a bias.
// CHECK-LABEL: func.func @conv2d_accumulator(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<1x8x8x2x!quant.uniform<i8:f32, 5.000000e-01:3>>
// CHECK-SAME:    %[[W:[a-z0-9]+]]: tensor<4x1x1x2x!quant.uniform<i8:f32, 2.500000e-01>>
// CHECK:         "qnn.conv2d"(%[[X]], %[[W]]) {clamp = array<f32>, dilations = array<i64: 1, 1>, groups = 1 : i64, operandSegmentSizes = array<i32: 1, 1, 0>, padding = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>}
// CHECK-SAME:      : (tensor<1x8x8x2x!quant.uniform<i8:f32, 5.000000e-01:3>>, tensor<4x1x1x2x!quant.uniform<i8:f32, 2.500000e-01>>) -> tensor<1x8x8x4x!quant.uniform<i32:f32, 1.250000e-01>>
func.func @conv2d_accumulator(%x: tensor<1x8x8x2x!q>, %w: tensor<4x1x1x2x!w>) -> tensor<1x8x8x4x!b> {
  %result = "qnn.conv2d"(%x, %w) {clamp = array<f32>, dilations = array<i64: 1, 1>, groups = 1 : i64, operandSegmentSizes = array<i32: 1, 1, 0>, padding = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>} : (tensor<1x8x8x2x!q>, tensor<4x1x1x2x!w>) -> tensor<1x8x8x4x!b>
  return %result : tensor<1x8x8x4x!b>
}

// Floats, an unknown batch
// CHECK-LABEL: func.func @conv2d_float(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<?x8x8x2xf32>
// CHECK-SAME:    %[[W:[a-z0-9]+]]: tensor<4x1x1x2xf32>
// CHECK-SAME:    %[[B:[a-z0-9]+]]: tensor<4xf32>
// CHECK:         "qnn.conv2d"(%[[X]], %[[W]], %[[B]]) {clamp = array<f32: 0.000000e+00, 0x7F800000>, dilations = array<i64: 1, 1>, groups = 1 : i64, operandSegmentSizes = array<i32: 1, 1, 1>, padding = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>}
// CHECK-SAME:      : (tensor<?x8x8x2xf32>, tensor<4x1x1x2xf32>, tensor<4xf32>) -> tensor<?x8x8x4xf32>
func.func @conv2d_float(%x: tensor<?x8x8x2xf32>, %w: tensor<4x1x1x2xf32>, %b: tensor<4xf32>) -> tensor<?x8x8x4xf32> {
  %result = "qnn.conv2d"(%x, %w, %b) {clamp = array<f32: 0.000000e+00, 0x7F800000>, dilations = array<i64: 1, 1>, groups = 1 : i64, operandSegmentSizes = array<i32: 1, 1, 1>, padding = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>} : (tensor<?x8x8x2xf32>, tensor<4x1x1x2xf32>, tensor<4xf32>) -> tensor<?x8x8x4xf32>
  return %result : tensor<?x8x8x4xf32>
}

// Int16 activations with a bias of 64 bits
!h = !quant.uniform<i16:f32, 5.000000e-01>
// CHECK-LABEL: func.func @conv2d_16x8(
// CHECK:         "qnn.conv2d"(%{{.*}}) {{.*}} : (tensor<1x8x8x2x!quant.uniform<i16:f32, 5.000000e-01>>, tensor<4x1x1x2x!quant.uniform<i8:f32, 2.500000e-01>>, tensor<4xi64>) -> tensor<1x8x8x4x!quant.uniform<i16:f32, 5.000000e-01>>
func.func @conv2d_16x8(%x: tensor<1x8x8x2x!h>, %w: tensor<4x1x1x2x!w>, %b: tensor<4xi64>) -> tensor<1x8x8x4x!h> {
  %result = "qnn.conv2d"(%x, %w, %b) {clamp = array<f32>, dilations = array<i64: 1, 1>, groups = 1 : i64, operandSegmentSizes = array<i32: 1, 1, 1>, padding = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>} : (tensor<1x8x8x2x!h>, tensor<4x1x1x2x!w>, tensor<4xi64>) -> tensor<1x8x8x4x!h>
  return %result : tensor<1x8x8x4x!h>
}
