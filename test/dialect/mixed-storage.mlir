// The storage type belongs to each result's type; nothing is promoted. Where it changes, an op says so.
// RUN: qopt %s | qopt | %filecheck

!i8 = !quant.uniform<i8:f32, 5.000000e-01:3>
!u8 = !quant.uniform<u8:f32, 5.000000e-01:131>
!w = !quant.uniform<i8:f32, 2.500000e-01>
!acc = !quant.uniform<i32:f32, 1.250000e-01>
!gate = !quant.uniform<i8:f32, 7.812500e-03>
!cell = !quant.uniform<i16:f32, 3.051757e-05>

// A product that stays in i32 until something reads it in 8 bits.
// CHECK-LABEL: func.func @accumulator(
// CHECK:         "qnn.fully_connected"
// CHECK-SAME:      -> tensor<1x2x!quant.uniform<i32:f32, 1.250000e-01>>
// CHECK:         "qnn.requantize"
// CHECK-SAME:      (tensor<1x2x!quant.uniform<i32:f32, 1.250000e-01>>) -> tensor<1x2x!quant.uniform<i8:f32, 5.000000e-01:3>>
func.func @accumulator(%x: tensor<1x4x!i8>, %w: tensor<2x4x!w>) -> tensor<1x2x!i8> {
  %sum = "qnn.fully_connected"(%x, %w) {clamp = array<f32>, operandSegmentSizes = array<i32: 1, 1, 0>} : (tensor<1x4x!i8>, tensor<2x4x!w>) -> tensor<1x2x!acc>
  %y = "qnn.requantize"(%sum) : (tensor<1x2x!acc>) -> tensor<1x2x!i8>
  return %y : tensor<1x2x!i8>
}

// A cell of 16 bits, its gate of 8: the gate is widened before they meet.
// CHECK-LABEL: func.func @wide_cell(
// CHECK:         %[[GATE:[0-9]+]] = "qnn.requantize"
// CHECK-SAME:      -> tensor<1x2x!quant.uniform<i16
// CHECK:         "qnn.mul"(%[[GATE]],
// CHECK-SAME:      -> tensor<1x2x!quant.uniform<i16
func.func @wide_cell(%gate: tensor<1x2x!gate>, %cell: tensor<1x2x!cell>) -> tensor<1x2x!cell> {
  %wide = "qnn.requantize"(%gate) : (tensor<1x2x!gate>) -> tensor<1x2x!cell>
  %y = "qnn.mul"(%wide, %cell) {clamp = array<f32>} : (tensor<1x2x!cell>, tensor<1x2x!cell>) -> tensor<1x2x!cell>
  return %y : tensor<1x2x!cell>
}

// i8 and u8 are two labels of 8 bits: a sum is of reals, whatever the labels.
// CHECK-LABEL: func.func @labels(
// CHECK:         "qnn.add"
func.func @labels(%x: tensor<4x!i8>, %y: tensor<4x!u8>) -> tensor<4x!i8> {
  %z = "qnn.add"(%x, %y) {clamp = array<f32>} : (tensor<4x!i8>, tensor<4x!u8>) -> tensor<4x!i8>
  return %z : tensor<4x!i8>
}
