// Both i8: what AArch64's dot instructions multiply.
// RUN: qopt %s -p 'legalize-storage{target=aarch64}' --split-input-file | %filecheck

!u = !quant.uniform<u8:f32, 5.0e-01:3>
!w = !quant.uniform<u8<1:255>:f32, 2.5e-01:128>

// CHECK-LABEL: func.func @relabel_all(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<1x4x!quant.uniform<u8:f32, 5.000000e-01:3>>
// CHECK:         %[[I:[0-9]+]] = "qnn.requantize"(%[[X]]) {qnn.inserted = "storage"}
// CHECK:         %[[W:[0-9]+]] = "qnn.constant"() {value = dense<-127> : tensor<2x4xi8>}
// CHECK:         %[[Y:[0-9]+]] = "qnn.fully_connected"(%[[I]], %[[W]])
// CHECK-SAME:      tensor<2x4x!quant.uniform<i8<-127:127>:f32, 2.500000e-01>>)
// CHECK-SAME:      -> tensor<1x2x!quant.uniform<i8:f32, 5.000000e-01:-125>>
// CHECK:         "qnn.softmax"(%[[Y]])
// CHECK-SAME:      -> tensor<1x2x!quant.uniform<i8:f32, 3.906250e-03:-128>>
func.func @relabel_all(%x: tensor<1x4x!u>) -> tensor<1x2x!quant.uniform<u8:f32, 3.906250e-03>> {
  %w = "qnn.constant"() {value = dense<1> : tensor<2x4xi8>} : () -> tensor<2x4x!w>
  %y = "qnn.fully_connected"(%x, %w) {clamp = array<f32>, operandSegmentSizes = array<i32: 1, 1, 0>} : (tensor<1x4x!u>, tensor<2x4x!w>) -> tensor<1x2x!u>
  %z = "qnn.softmax"(%y) {beta = 1.0 : f32, axis = 1 : i64} : (tensor<1x2x!u>) -> tensor<1x2x!quant.uniform<u8:f32, 3.906250e-03>>
  return %z : tensor<1x2x!quant.uniform<u8:f32, 3.906250e-03>>
}

// -----
// Signed already: the filter's zero points stay 0, nothing changes.

!i = !quant.uniform<i8:f32, 5.0e-01:3>
!w = !quant.uniform<i8:f32:0, {5.0e-01, 2.5e-01}>

// CHECK-LABEL: func.func @keep_signed(
// CHECK-NOT:     {{qnn.requantize|u8}}
// CHECK:         return
func.func @keep_signed(%x: tensor<1x4x!i>) -> tensor<1x2x!i> {
  %w = "qnn.constant"() {value = dense<1> : tensor<2x4xi8>} : () -> tensor<2x4x!w>
  %y = "qnn.fully_connected"(%x, %w) {clamp = array<f32>, operandSegmentSizes = array<i32: 1, 1, 0>} : (tensor<1x4x!i>, tensor<2x4x!w>) -> tensor<1x2x!i>
  return %y : tensor<1x2x!i>
}

// -----
// The last op of the network relabels for its user, who keeps it.

!i = !quant.uniform<i8:f32, 5.0e-01:3>
!u = !quant.uniform<u8:f32, 5.0e-01:131>

// CHECK-LABEL: func.func @keep_relabel_of_the_user(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor
// CHECK:         %[[Y:[0-9]+]] = "qnn.requantize"(%[[X]]) : (
// CHECK-NEXT:    return %[[Y]]
func.func @keep_relabel_of_the_user(%x: tensor<4x!i>) -> tensor<4x!u> {
  %y = "qnn.requantize"(%x) : (tensor<4x!i>) -> tensor<4x!u>
  return %y : tensor<4x!u>
}
