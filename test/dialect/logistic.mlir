// RUN: qopt %s | qopt | %filecheck

!q = !quant.uniform<i8:f32, 5.000000e-01:3>
!p = !quant.uniform<u8:f32, 3.906250e-03>
!h = !quant.uniform<i16:f32, 7.812500e-03>

// CHECK-LABEL: func.func @logistic_int8(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<4x!quant.uniform<i8:f32, 5.000000e-01:3>>
// CHECK:         "qnn.logistic"(%[[X]])
// CHECK-SAME:      : (tensor<4x!quant.uniform<i8:f32, 5.000000e-01:3>>) -> tensor<4x!quant.uniform<u8:f32, 3.906250e-03>>
func.func @logistic_int8(%x: tensor<4x!q>) -> tensor<4x!p> {
  %result = "qnn.logistic"(%x) : (tensor<4x!q>) -> tensor<4x!p>
  return %result : tensor<4x!p>
}

// CHECK-LABEL: func.func @logistic_int16(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<4x!quant.uniform<i16:f32, 7.812500e-03>>
// CHECK:         "qnn.logistic"(%[[X]])
// CHECK-SAME:      : (tensor<4x!quant.uniform<i16:f32, 7.812500e-03>>) -> tensor<4x!quant.uniform<i16:f32, 7.812500e-03>>
func.func @logistic_int16(%x: tensor<4x!h>) -> tensor<4x!h> {
  %result = "qnn.logistic"(%x) : (tensor<4x!h>) -> tensor<4x!h>
  return %result : tensor<4x!h>
}

// CHECK-LABEL: func.func @logistic_float(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<?x4xf32>
// CHECK:         "qnn.logistic"(%[[X]])
// CHECK-SAME:      : (tensor<?x4xf32>) -> tensor<?x4xf32>
func.func @logistic_float(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %result = "qnn.logistic"(%x) : (tensor<?x4xf32>) -> tensor<?x4xf32>
  return %result : tensor<?x4xf32>
}
