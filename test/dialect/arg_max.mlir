// RUN: qopt %s | qopt | %filecheck

!q = !quant.uniform<i8:f32, 5.000000e-01:3>

// CHECK-LABEL: func.func @arg_max_int8(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<1x8x8x2x!quant.uniform<i8:f32, 5.000000e-01:3>>
// CHECK:         "qnn.arg_max"(%[[X]]) {axis = 3 : i64}
// CHECK-SAME:      : (tensor<1x8x8x2x!quant.uniform<i8:f32, 5.000000e-01:3>>) -> tensor<1x8x8xi32>
func.func @arg_max_int8(%x: tensor<1x8x8x2x!q>) -> tensor<1x8x8xi32> {
  %result = "qnn.arg_max"(%x) {axis = 3 : i64} : (tensor<1x8x8x2x!q>) -> tensor<1x8x8xi32>
  return %result : tensor<1x8x8xi32>
}

// CHECK-LABEL: func.func @arg_max_float(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<?x8xf32>
// CHECK:         "qnn.arg_max"(%[[X]]) {axis = 1 : i64}
// CHECK-SAME:      : (tensor<?x8xf32>) -> tensor<?xi64>
func.func @arg_max_float(%x: tensor<?x8xf32>) -> tensor<?xi64> {
  %result = "qnn.arg_max"(%x) {axis = 1 : i64} : (tensor<?x8xf32>) -> tensor<?xi64>
  return %result : tensor<?xi64>
}
