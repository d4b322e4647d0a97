// RUN: qopt %s | qopt | %filecheck

!q = !quant.uniform<i8:f32, 5.000000e-01:3>
!c = !quant.uniform<i8:f32:0, {2.500000e-01,5.000000e-01}>
!bc = !quant.uniform<i32:f32:0, {1.250000e-01,2.500000e-01}>
!r = !quant.uniform<i8:f32, 2.500000e-01:-1>
!u = !quant.uniform<u8:f32, 5.000000e-01:128>
!v = !quant.uniform<u8:f32, 2.500000e-01:120>
!w = !quant.uniform<i8:f32, 2.500000e-01>
!b = !quant.uniform<i32:f32, 1.250000e-01>

// int8, one scale per output, bias
// CHECK-LABEL: func.func @fully_connected_per_channel(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<3x8x!quant.uniform<i8:f32, 5.000000e-01:3>>
// CHECK-SAME:    %[[W:[a-z0-9]+]]: tensor<2x8x!quant.uniform<i8:f32:0, {2.500000e-01,5.000000e-01}>>
// CHECK-SAME:    %[[B:[a-z0-9]+]]: tensor<2x!quant.uniform<i32:f32:0, {1.250000e-01,2.500000e-01}>>
// CHECK:         "qnn.fully_connected"(%[[X]], %[[W]], %[[B]]) {clamp = array<f32: 0.000000e+00, 6.000000e+00>, operandSegmentSizes = array<i32: 1, 1, 1>}
// CHECK-SAME:      : (tensor<3x8x!quant.uniform<i8:f32, 5.000000e-01:3>>, tensor<2x8x!quant.uniform<i8:f32:0, {2.500000e-01,5.000000e-01}>>, tensor<2x!quant.uniform<i32:f32:0, {1.250000e-01,2.500000e-01}>>) -> tensor<3x2x!quant.uniform<i8:f32, 2.500000e-01:-1>>
func.func @fully_connected_per_channel(%x: tensor<3x8x!q>, %w: tensor<2x8x!c>, %b: tensor<2x!bc>) -> tensor<3x2x!r> {
  %result = "qnn.fully_connected"(%x, %w, %b) {clamp = array<f32: 0.000000e+00, 6.000000e+00>, operandSegmentSizes = array<i32: 1, 1, 1>} : (tensor<3x8x!q>, tensor<2x8x!c>, tensor<2x!bc>) -> tensor<3x2x!r>
  return %result : tensor<3x2x!r>
}

// uint8, more leading dimensions
// CHECK-LABEL: func.func @fully_connected_uint8(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<2x3x8x!quant.uniform<u8:f32, 5.000000e-01:128>>
// CHECK-SAME:    %[[W:[a-z0-9]+]]: tensor<4x8x!quant.uniform<u8:f32, 2.500000e-01:120>>
// CHECK:         "qnn.fully_connected"(%[[X]], %[[W]]) {clamp = array<f32>, operandSegmentSizes = array<i32: 1, 1, 0>}
// CHECK-SAME:      : (tensor<2x3x8x!quant.uniform<u8:f32, 5.000000e-01:128>>, tensor<4x8x!quant.uniform<u8:f32, 2.500000e-01:120>>) -> tensor<2x3x4x!quant.uniform<u8:f32, 5.000000e-01:128>>
func.func @fully_connected_uint8(%x: tensor<2x3x8x!u>, %w: tensor<4x8x!v>) -> tensor<2x3x4x!u> {
  %result = "qnn.fully_connected"(%x, %w) {clamp = array<f32>, operandSegmentSizes = array<i32: 1, 1, 0>} : (tensor<2x3x8x!u>, tensor<4x8x!v>) -> tensor<2x3x4x!u>
  return %result : tensor<2x3x4x!u>
}

// A result that stays i32 is the accumulator.
// CHECK-LABEL: func.func @fully_connected_accumulator(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<3x8x!quant.uniform<i8:f32, 5.000000e-01:3>>
// CHECK-SAME:    %[[W:[a-z0-9]+]]: tensor<4x8x!quant.uniform<i8:f32, 2.500000e-01>>
// CHECK-SAME:    %[[B:[a-z0-9]+]]: tensor<4x!quant.uniform<i32:f32, 1.250000e-01>>
// CHECK:         "qnn.fully_connected"(%[[X]], %[[W]], %[[B]]) {clamp = array<f32>, operandSegmentSizes = array<i32: 1, 1, 1>}
// CHECK-SAME:      : (tensor<3x8x!quant.uniform<i8:f32, 5.000000e-01:3>>, tensor<4x8x!quant.uniform<i8:f32, 2.500000e-01>>, tensor<4x!quant.uniform<i32:f32, 1.250000e-01>>) -> tensor<3x4x!quant.uniform<i32:f32, 1.250000e-01>>
func.func @fully_connected_accumulator(%x: tensor<3x8x!q>, %w: tensor<4x8x!w>, %b: tensor<4x!b>) -> tensor<3x4x!b> {
  %result = "qnn.fully_connected"(%x, %w, %b) {clamp = array<f32>, operandSegmentSizes = array<i32: 1, 1, 1>} : (tensor<3x8x!q>, tensor<4x8x!w>, tensor<4x!b>) -> tensor<3x4x!b>
  return %result : tensor<3x4x!b>
}

// CHECK-LABEL: func.func @fully_connected_float(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<?x8xf32>
// CHECK-SAME:    %[[W:[a-z0-9]+]]: tensor<4x8xf32>
// CHECK:         "qnn.fully_connected"(%[[X]], %[[W]]) {clamp = array<f32>, operandSegmentSizes = array<i32: 1, 1, 0>}
// CHECK-SAME:      : (tensor<?x8xf32>, tensor<4x8xf32>) -> tensor<?x4xf32>
func.func @fully_connected_float(%x: tensor<?x8xf32>, %w: tensor<4x8xf32>) -> tensor<?x4xf32> {
  %result = "qnn.fully_connected"(%x, %w) {clamp = array<f32>, operandSegmentSizes = array<i32: 1, 1, 0>} : (tensor<?x8xf32>, tensor<4x8xf32>) -> tensor<?x4xf32>
  return %result : tensor<?x4xf32>
}
