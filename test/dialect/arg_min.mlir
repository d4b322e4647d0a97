// RUN: qopt %s | qopt | %filecheck

!q = !quant.uniform<i8:f32, 5.000000e-01:3>

// CHECK-LABEL: func.func @arg_min_int8(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<2x8x!quant.uniform<i8:f32, 5.000000e-01:3>>
// CHECK:         "qnn.arg_min"(%[[X]]) {axis = 1 : i64}
// CHECK-SAME:      : (tensor<2x8x!quant.uniform<i8:f32, 5.000000e-01:3>>) -> tensor<2xi32>
func.func @arg_min_int8(%x: tensor<2x8x!q>) -> tensor<2xi32> {
  %result = "qnn.arg_min"(%x) {axis = 1 : i64} : (tensor<2x8x!q>) -> tensor<2xi32>
  return %result : tensor<2xi32>
}

// CHECK-LABEL: func.func @arg_min_plain(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<2x8xi32>
// CHECK:         "qnn.arg_min"(%[[X]]) {axis = 0 : i64}
// CHECK-SAME:      : (tensor<2x8xi32>) -> tensor<8xi64>
func.func @arg_min_plain(%x: tensor<2x8xi32>) -> tensor<8xi64> {
  %result = "qnn.arg_min"(%x) {axis = 0 : i64} : (tensor<2x8xi32>) -> tensor<8xi64>
  return %result : tensor<8xi64>
}
