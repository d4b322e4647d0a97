// RUN: qopt %s | qopt | %filecheck

!q = !quant.uniform<i8:f32, 5.000000e-01:3>
!r = !quant.uniform<i8:f32, 2.500000e-01:-1>

// CHECK-LABEL: func.func @select_int8(
// CHECK-SAME:    %[[A:[a-z0-9]+]]: tensor<2x3x!quant.uniform<i8:f32, 5.000000e-01:3>>
// CHECK-SAME:    %[[B:[a-z0-9]+]]: tensor<3x!quant.uniform<i8:f32, 5.000000e-01:3>>
// CHECK-SAME:    %[[C:[a-z0-9]+]]: tensor<2x1xi1>
// CHECK:         "qnn.select"(%[[A]], %[[B]], %[[C]])
// CHECK-SAME:      : (tensor<2x3x!quant.uniform<i8:f32, 5.000000e-01:3>>, tensor<3x!quant.uniform<i8:f32, 5.000000e-01:3>>, tensor<2x1xi1>) -> tensor<2x3x!quant.uniform<i8:f32, 2.500000e-01:-1>>
func.func @select_int8(%a: tensor<2x3x!q>, %b: tensor<3x!q>, %c: tensor<2x1xi1>) -> tensor<2x3x!r> {
  %result = "qnn.select"(%a, %b, %c) : (tensor<2x3x!q>, tensor<3x!q>, tensor<2x1xi1>) -> tensor<2x3x!r>
  return %result : tensor<2x3x!r>
}

// CHECK-LABEL: func.func @select_plain(
// CHECK-SAME:    %[[A:[a-z0-9]+]]: tensor<i64>
// CHECK-SAME:    %[[B:[a-z0-9]+]]: tensor<i64>
// CHECK-SAME:    %[[C:[a-z0-9]+]]: tensor<4xi1>
// CHECK:         "qnn.select"(%[[A]], %[[B]], %[[C]])
// CHECK-SAME:      : (tensor<i64>, tensor<i64>, tensor<4xi1>) -> tensor<4xi64>
func.func @select_plain(%a: tensor<i64>, %b: tensor<i64>, %c: tensor<4xi1>) -> tensor<4xi64> {
  %result = "qnn.select"(%a, %b, %c) : (tensor<i64>, tensor<i64>, tensor<4xi1>) -> tensor<4xi64>
  return %result : tensor<4xi64>
}
