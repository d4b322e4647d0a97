// RUN: qopt %s | qopt | %filecheck
!q = !quant.uniform<i8:f32, 5.000000e-01:3>
!r = !quant.uniform<u8:f32, 2.500000e-01:128>
!h = !quant.uniform<i16:f32, 7.812500e-03>

// CHECK-LABEL: func.func @compare_int8(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<2x4x!quant.uniform<i8:f32, 5.000000e-01:3>>
// CHECK-SAME:    %[[Y:[a-z0-9]+]]: tensor<4x!quant.uniform<u8:f32, 2.500000e-01:128>>
// CHECK:         "qnn.compare"(%[[X]], %[[Y]]) {predicate = "less"}
// CHECK-SAME:      : (tensor<2x4x!quant.uniform<i8:f32, 5.000000e-01:3>>, tensor<4x!quant.uniform<u8:f32, 2.500000e-01:128>>) -> tensor<2x4xi1>
func.func @compare_int8(%x: tensor<2x4x!q>, %y: tensor<4x!r>) -> tensor<2x4xi1> {
  %result = "qnn.compare"(%x, %y) {predicate = "less"} : (tensor<2x4x!q>, tensor<4x!r>) -> tensor<2x4xi1>
  return %result : tensor<2x4xi1>
}

// CHECK-LABEL: func.func @compare_int16(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<4x!quant.uniform<i16:f32, 7.812500e-03>>
// CHECK-SAME:    %[[Y:[a-z0-9]+]]: tensor<1x!quant.uniform<i16:f32, 7.812500e-03>>
// CHECK:         "qnn.compare"(%[[X]], %[[Y]]) {predicate = "equal"}
// CHECK-SAME:      : (tensor<4x!quant.uniform<i16:f32, 7.812500e-03>>, tensor<1x!quant.uniform<i16:f32, 7.812500e-03>>) -> tensor<4xi1>
func.func @compare_int16(%x: tensor<4x!h>, %y: tensor<1x!h>) -> tensor<4xi1> {
  %result = "qnn.compare"(%x, %y) {predicate = "equal"} : (tensor<4x!h>, tensor<1x!h>) -> tensor<4xi1>
  return %result : tensor<4xi1>
}

// CHECK-LABEL: func.func @compare_float(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<?x4xf32>
// CHECK-SAME:    %[[Y:[a-z0-9]+]]: tensor<4xf32>
// CHECK:         "qnn.compare"(%[[X]], %[[Y]]) {predicate = "less"}
// CHECK-SAME:      : (tensor<?x4xf32>, tensor<4xf32>) -> tensor<?x4xi1>
func.func @compare_float(%x: tensor<?x4xf32>, %y: tensor<4xf32>) -> tensor<?x4xi1> {
  %result = "qnn.compare"(%x, %y) {predicate = "less"} : (tensor<?x4xf32>, tensor<4xf32>) -> tensor<?x4xi1>
  return %result : tensor<?x4xi1>
}

// CHECK-LABEL: func.func @compare_boolean(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<4xi1>
// CHECK-SAME:    %[[Y:[a-z0-9]+]]: tensor<4xi1>
// CHECK:         "qnn.compare"(%[[X]], %[[Y]]) {predicate = "not_equal"}
// CHECK-SAME:      : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
func.func @compare_boolean(%x: tensor<4xi1>, %y: tensor<4xi1>) -> tensor<4xi1> {
  %result = "qnn.compare"(%x, %y) {predicate = "not_equal"} : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  return %result : tensor<4xi1>
}
