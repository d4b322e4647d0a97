// RUN: qopt %s | qopt | %filecheck

!q = !quant.uniform<i8:f32, 5.000000e-01:3>
!r = !quant.uniform<i8:f32, 2.500000e-01:-1>
!u = !quant.uniform<u8:f32, 5.000000e-01:128>
!b = !quant.uniform<i32:f32, 1.250000e-01>

// CHECK-LABEL: func.func @requantize_scale(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<2x4x!quant.uniform<i8:f32, 5.000000e-01:3>>
// CHECK:         "qnn.requantize"(%[[X]])
// CHECK-SAME:      : (tensor<2x4x!quant.uniform<i8:f32, 5.000000e-01:3>>) -> tensor<2x4x!quant.uniform<i8:f32, 2.500000e-01:-1>>
func.func @requantize_scale(%x: tensor<2x4x!q>) -> tensor<2x4x!r> {
  %result = "qnn.requantize"(%x) : (tensor<2x4x!q>) -> tensor<2x4x!r>
  return %result : tensor<2x4x!r>
}

// Only the storage's sign changes.
// CHECK-LABEL: func.func @requantize_sign(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<?x!quant.uniform<u8:f32, 5.000000e-01:128>>
// CHECK:         "qnn.requantize"(%[[X]])
// CHECK-SAME:      : (tensor<?x!quant.uniform<u8:f32, 5.000000e-01:128>>) -> tensor<?x!quant.uniform<i8:f32, 5.000000e-01:3>>
func.func @requantize_sign(%x: tensor<?x!u>) -> tensor<?x!q> {
  %result = "qnn.requantize"(%x) : (tensor<?x!u>) -> tensor<?x!q>
  return %result : tensor<?x!q>
}

// An accumulator becomes an activation.
// CHECK-LABEL: func.func @requantize_accumulator(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<4x!quant.uniform<i32:f32, 1.250000e-01>>
// CHECK:         "qnn.requantize"(%[[X]])
// CHECK-SAME:      : (tensor<4x!quant.uniform<i32:f32, 1.250000e-01>>) -> tensor<4x!quant.uniform<i8:f32, 5.000000e-01:3>>
func.func @requantize_accumulator(%x: tensor<4x!b>) -> tensor<4x!q> {
  %result = "qnn.requantize"(%x) : (tensor<4x!b>) -> tensor<4x!q>
  return %result : tensor<4x!q>
}
