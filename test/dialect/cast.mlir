// RUN: qopt %s | qopt | %filecheck

!q = !quant.uniform<i8:f32, 5.000000e-01:3>

// CHECK-LABEL: func.func @cast_float(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<4xi32>
// CHECK:         "qnn.cast"(%[[X]])
// CHECK-SAME:      : (tensor<4xi32>) -> tensor<4xf32>
func.func @cast_float(%x: tensor<4xi32>) -> tensor<4xf32> {
  %result = "qnn.cast"(%x) : (tensor<4xi32>) -> tensor<4xf32>
  return %result : tensor<4xf32>
}

// CHECK-LABEL: func.func @cast_stored(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<4x!quant.uniform<i8:f32, 5.000000e-01:3>>
// CHECK:         "qnn.cast"(%[[X]])
// CHECK-SAME:      : (tensor<4x!quant.uniform<i8:f32, 5.000000e-01:3>>) -> tensor<4xi64>
func.func @cast_stored(%x: tensor<4x!q>) -> tensor<4xi64> {
  %result = "qnn.cast"(%x) : (tensor<4x!q>) -> tensor<4xi64>
  return %result : tensor<4xi64>
}

// CHECK-LABEL: func.func @cast_bool(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<?xf32>
// CHECK:         "qnn.cast"(%[[X]])
// CHECK-SAME:      : (tensor<?xf32>) -> tensor<?xi1>
func.func @cast_bool(%x: tensor<?xf32>) -> tensor<?xi1> {
  %result = "qnn.cast"(%x) : (tensor<?xf32>) -> tensor<?xi1>
  return %result : tensor<?xi1>
}
