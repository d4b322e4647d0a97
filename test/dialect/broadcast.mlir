// RUN: qopt %s | qopt | %filecheck

!q = !quant.uniform<i8:f32, 5.000000e-01:3>
!r = !quant.uniform<i8:f32, 2.500000e-01:-1>

// CHECK-LABEL: func.func @broadcast_int8(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<3x1x!quant.uniform<i8:f32, 5.000000e-01:3>>
// CHECK:         "qnn.broadcast"(%[[X]])
// CHECK-SAME:      : (tensor<3x1x!quant.uniform<i8:f32, 5.000000e-01:3>>) -> tensor<2x3x4x!quant.uniform<i8:f32, 2.500000e-01:-1>>
func.func @broadcast_int8(%x: tensor<3x1x!q>) -> tensor<2x3x4x!r> {
  %result = "qnn.broadcast"(%x) : (tensor<3x1x!q>) -> tensor<2x3x4x!r>
  return %result : tensor<2x3x4x!r>
}

// CHECK-LABEL: func.func @broadcast_scalar(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<i32>
// CHECK:         "qnn.broadcast"(%[[X]])
// CHECK-SAME:      : (tensor<i32>) -> tensor<4xi32>
func.func @broadcast_scalar(%x: tensor<i32>) -> tensor<4xi32> {
  %result = "qnn.broadcast"(%x) : (tensor<i32>) -> tensor<4xi32>
  return %result : tensor<4xi32>
}
