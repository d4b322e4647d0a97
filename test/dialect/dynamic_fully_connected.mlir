// RUN: qopt %s | qopt | %filecheck

!w = !quant.uniform<i8:f32, 2.500000e-01>
!c = !quant.uniform<i8<-8:7>:f32:0, {2.500000e-01,5.000000e-01}>

// CHECK-LABEL: func.func @dynamic_fully_connected(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<3x8xf32>
// CHECK-SAME:    %[[W:[a-z0-9]+]]: tensor<4x8x!quant.uniform<i8:f32, 2.500000e-01>>
// CHECK-SAME:    %[[B:[a-z0-9]+]]: tensor<4xf32>
// CHECK:         "qnn.dynamic_fully_connected"(%[[X]], %[[W]], %[[B]]) {asymmetric = true, clamp = array<f32: 0.000000e+00, 6.000000e+00>, operandSegmentSizes = array<i32: 1, 1, 1>}
func.func @dynamic_fully_connected(%x: tensor<3x8xf32>, %w: tensor<4x8x!w>, %b: tensor<4xf32>) -> tensor<3x4xf32> {
  %result = "qnn.dynamic_fully_connected"(%x, %w, %b) {asymmetric = true, clamp = array<f32: 0.0, 6.0>, operandSegmentSizes = array<i32: 1, 1, 1>} : (tensor<3x8xf32>, tensor<4x8x!w>, tensor<4xf32>) -> tensor<3x4xf32>
  return %result : tensor<3x4xf32>
}

// Leading dimensions stay, an unknown one too; weights of few bits, per channel; no bias.
// CHECK-LABEL: func.func @dynamic_fully_connected_per_channel(
// CHECK:         "qnn.dynamic_fully_connected"
// CHECK-SAME:      (tensor<?x3x8xf32>, tensor<2x8x!quant.uniform<i8<-8:7>:f32:0, {2.500000e-01,5.000000e-01}>>) -> tensor<?x3x2xf32>
func.func @dynamic_fully_connected_per_channel(%x: tensor<?x3x8xf32>, %w: tensor<2x8x!c>) -> tensor<?x3x2xf32> {
  %result = "qnn.dynamic_fully_connected"(%x, %w) {asymmetric = false, clamp = array<f32>, operandSegmentSizes = array<i32: 1, 1, 0>} : (tensor<?x3x8xf32>, tensor<2x8x!c>) -> tensor<?x3x2xf32>
  return %result : tensor<?x3x2xf32>
}

// Scales by blocks of four along each row
// CHECK-LABEL: func.func @dynamic_fully_connected_blocks(
// CHECK:         "qnn.dynamic_fully_connected"
// CHECK-SAME:      tensor<2x8x!quant.uniform<i4:f32:{0:1, 1:4}
func.func @dynamic_fully_connected_blocks(%x: tensor<3x8xf32>, %w: tensor<2x8x!quant.uniform<i4:f32:{0:1, 1:4}, {{0.5, 0.25}, {0.125, 1.0}}>>) -> tensor<3x2xf32> {
  %result = "qnn.dynamic_fully_connected"(%x, %w) {asymmetric = true, clamp = array<f32>, operandSegmentSizes = array<i32: 1, 1, 0>} : (tensor<3x8xf32>, tensor<2x8x!quant.uniform<i4:f32:{0:1, 1:4}, {{0.5, 0.25}, {0.125, 1.0}}>>) -> tensor<3x2xf32>
  return %result : tensor<3x2xf32>
}
