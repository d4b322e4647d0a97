// RUN: qopt %s | qopt | %filecheck

!q = !quant.uniform<i8:f32, 5.000000e-01:3>

// CHECK-LABEL: func.func @one_hot_float(
// CHECK-SAME:    %[[ON:[a-z0-9]+]]: tensor<f32>
// CHECK-SAME:    %[[OFF:[a-z0-9]+]]: tensor<f32>
// CHECK-SAME:    %[[I:[a-z0-9]+]]: tensor<4xi32>
// CHECK:         "qnn.one_hot"(%[[ON]], %[[OFF]], %[[I]]) {axis = 1 : i64}
// CHECK-SAME:      : (tensor<f32>, tensor<f32>, tensor<4xi32>) -> tensor<4x10xf32>
func.func @one_hot_float(%on: tensor<f32>, %off: tensor<f32>, %i: tensor<4xi32>) -> tensor<4x10xf32> {
  %result = "qnn.one_hot"(%on, %off, %i) {axis = 1 : i64} : (tensor<f32>, tensor<f32>, tensor<4xi32>) -> tensor<4x10xf32>
  return %result : tensor<4x10xf32>
}

// CHECK-LABEL: func.func @one_hot_int8(
// CHECK-SAME:    %[[ON:[a-z0-9]+]]: tensor<!quant.uniform<i8:f32, 5.000000e-01:3>>
// CHECK-SAME:    %[[OFF:[a-z0-9]+]]: tensor<!quant.uniform<i8:f32, 5.000000e-01:3>>
// CHECK-SAME:    %[[I:[a-z0-9]+]]: tensor<4xi64>
// CHECK:         "qnn.one_hot"(%[[ON]], %[[OFF]], %[[I]]) {axis = 0 : i64}
// CHECK-SAME:      : (tensor<!quant.uniform<i8:f32, 5.000000e-01:3>>, tensor<!quant.uniform<i8:f32, 5.000000e-01:3>>, tensor<4xi64>) -> tensor<10x4x!quant.uniform<i8:f32, 5.000000e-01:3>>
func.func @one_hot_int8(%on: tensor<!q>, %off: tensor<!q>, %i: tensor<4xi64>) -> tensor<10x4x!q> {
  %result = "qnn.one_hot"(%on, %off, %i) {axis = 0 : i64} : (tensor<!q>, tensor<!q>, tensor<4xi64>) -> tensor<10x4x!q>
  return %result : tensor<10x4x!q>
}
