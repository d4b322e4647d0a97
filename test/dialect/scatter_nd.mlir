// RUN: qopt %s | qopt | %filecheck

!q = !quant.uniform<i8:f32, 5.000000e-01:3>

// CHECK-LABEL: func.func @scatter_nd_float(
// CHECK-SAME:    %[[U:[a-z0-9]+]]: tensor<5x3xf32>
// CHECK-SAME:    %[[I:[a-z0-9]+]]: tensor<5x1xi32>
// CHECK:         "qnn.scatter_nd"(%[[U]], %[[I]])
// CHECK-SAME:      : (tensor<5x3xf32>, tensor<5x1xi32>) -> tensor<8x3xf32>
func.func @scatter_nd_float(%u: tensor<5x3xf32>, %i: tensor<5x1xi32>) -> tensor<8x3xf32> {
  %result = "qnn.scatter_nd"(%u, %i) : (tensor<5x3xf32>, tensor<5x1xi32>) -> tensor<8x3xf32>
  return %result : tensor<8x3xf32>
}

// CHECK-LABEL: func.func @scatter_nd_int8(
// CHECK-SAME:    %[[U:[a-z0-9]+]]: tensor<5x!quant.uniform<i8:f32, 5.000000e-01:3>>
// CHECK-SAME:    %[[I:[a-z0-9]+]]: tensor<5x2xi64>
// CHECK:         "qnn.scatter_nd"(%[[U]], %[[I]])
// CHECK-SAME:      : (tensor<5x!quant.uniform<i8:f32, 5.000000e-01:3>>, tensor<5x2xi64>) -> tensor<8x3x!quant.uniform<i8:f32, 5.000000e-01:3>>
func.func @scatter_nd_int8(%u: tensor<5x!q>, %i: tensor<5x2xi64>) -> tensor<8x3x!q> {
  %result = "qnn.scatter_nd"(%u, %i) : (tensor<5x!q>, tensor<5x2xi64>) -> tensor<8x3x!q>
  return %result : tensor<8x3x!q>
}
