// RUN: qopt %s | qopt | %filecheck

!q = !quant.uniform<i8:f32, 5.000000e-01:3>

// CHECK-LABEL: func.func @top_k_int8(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<2x8x!quant.uniform<i8:f32, 5.000000e-01:3>>
// CHECK:         "qnn.top_k"(%[[X]])
// CHECK-SAME:      : (tensor<2x8x!quant.uniform<i8:f32, 5.000000e-01:3>>) -> tensor<2x3xi32>
func.func @top_k_int8(%x: tensor<2x8x!q>) -> tensor<2x3xi32> {
  %result = "qnn.top_k"(%x) : (tensor<2x8x!q>) -> tensor<2x3xi32>
  return %result : tensor<2x3xi32>
}

// CHECK-LABEL: func.func @top_k_float(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<8xf32>
// CHECK:         "qnn.top_k"(%[[X]])
// CHECK-SAME:      : (tensor<8xf32>) -> tensor<8xi64>
func.func @top_k_float(%x: tensor<8xf32>) -> tensor<8xi64> {
  %result = "qnn.top_k"(%x) : (tensor<8xf32>) -> tensor<8xi64>
  return %result : tensor<8xi64>
}
