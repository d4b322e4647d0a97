// RUN: qopt %s | qopt | %filecheck

!q = !quant.uniform<i8:f32, 5.000000e-01:3>
!r = !quant.uniform<i8:f32, 2.500000e-01:-1>

// CHECK-LABEL: func.func @reshape_int8(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<2x6x!quant.uniform<i8:f32, 5.000000e-01:3>>
// CHECK:         "qnn.reshape"(%[[X]])
// CHECK-SAME:      : (tensor<2x6x!quant.uniform<i8:f32, 5.000000e-01:3>>) -> tensor<3x4x!quant.uniform<i8:f32, 5.000000e-01:3>>
func.func @reshape_int8(%x: tensor<2x6x!q>) -> tensor<3x4x!q> {
  %result = "qnn.reshape"(%x) : (tensor<2x6x!q>) -> tensor<3x4x!q>
  return %result : tensor<3x4x!q>
}

// To other parameters and an unknown extent
// CHECK-LABEL: func.func @reshape_requantizes(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<2x6x!quant.uniform<i8:f32, 5.000000e-01:3>>
// CHECK:         "qnn.reshape"(%[[X]])
// CHECK-SAME:      : (tensor<2x6x!quant.uniform<i8:f32, 5.000000e-01:3>>) -> tensor<?x2x!quant.uniform<i8:f32, 2.500000e-01:-1>>
func.func @reshape_requantizes(%x: tensor<2x6x!q>) -> tensor<?x2x!r> {
  %result = "qnn.reshape"(%x) : (tensor<2x6x!q>) -> tensor<?x2x!r>
  return %result : tensor<?x2x!r>
}

// CHECK-LABEL: func.func @reshape_float(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<1x1x1xf32>
// CHECK:         "qnn.reshape"(%[[X]])
// CHECK-SAME:      : (tensor<1x1x1xf32>) -> tensor<f32>
func.func @reshape_float(%x: tensor<1x1x1xf32>) -> tensor<f32> {
  %result = "qnn.reshape"(%x) : (tensor<1x1x1xf32>) -> tensor<f32>
  return %result : tensor<f32>
}

// CHECK-LABEL: func.func @reshape_integers(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<4xi32>
// CHECK:         "qnn.reshape"(%[[X]])
// CHECK-SAME:      : (tensor<4xi32>) -> tensor<2x2xi32>
func.func @reshape_integers(%x: tensor<4xi32>) -> tensor<2x2xi32> {
  %result = "qnn.reshape"(%x) : (tensor<4xi32>) -> tensor<2x2xi32>
  return %result : tensor<2x2xi32>
}
