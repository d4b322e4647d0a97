// RUN: qopt %s | qopt | %filecheck

!q = !quant.uniform<i8:f32, 5.000000e-01:3>
!p = !quant.uniform<u8:f32, 3.906250e-03>
!h = !quant.uniform<i16:f32, 7.812500e-03>

// CHECK-LABEL: func.func @softmax_int8(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<2x4x!quant.uniform<i8:f32, 5.000000e-01:3>>
// CHECK:         "qnn.softmax"(%[[X]]) {axis = 1 : i64, beta = 1.000000e+00 : f32}
// CHECK-SAME:      : (tensor<2x4x!quant.uniform<i8:f32, 5.000000e-01:3>>) -> tensor<2x4x!quant.uniform<u8:f32, 3.906250e-03>>
func.func @softmax_int8(%x: tensor<2x4x!q>) -> tensor<2x4x!p> {
  %result = "qnn.softmax"(%x) {axis = 1 : i64, beta = 1.000000e+00 : f32} : (tensor<2x4x!q>) -> tensor<2x4x!p>
  return %result : tensor<2x4x!p>
}

// CHECK-LABEL: func.func @softmax_int8_to_int16(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<2x4x!quant.uniform<i8:f32, 5.000000e-01:3>>
// CHECK:         "qnn.softmax"(%[[X]]) {axis = 0 : i64, beta = 2.500000e-01 : f32}
// CHECK-SAME:      : (tensor<2x4x!quant.uniform<i8:f32, 5.000000e-01:3>>) -> tensor<2x4x!quant.uniform<i16:f32, 7.812500e-03>>
func.func @softmax_int8_to_int16(%x: tensor<2x4x!q>) -> tensor<2x4x!h> {
  %result = "qnn.softmax"(%x) {axis = 0 : i64, beta = 2.500000e-01 : f32} : (tensor<2x4x!q>) -> tensor<2x4x!h>
  return %result : tensor<2x4x!h>
}

// CHECK-LABEL: func.func @softmax_float(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<?x4xf32>
// CHECK:         "qnn.softmax"(%[[X]]) {axis = 1 : i64, beta = 1.000000e+00 : f32}
// CHECK-SAME:      : (tensor<?x4xf32>) -> tensor<?x4xf32>
func.func @softmax_float(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %result = "qnn.softmax"(%x) {axis = 1 : i64, beta = 1.000000e+00 : f32} : (tensor<?x4xf32>) -> tensor<?x4xf32>
  return %result : tensor<?x4xf32>
}
