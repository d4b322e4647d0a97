// RUN: qopt %s | qopt | %filecheck

!q = !quant.uniform<i8:f32, 5.000000e-01:3>
!r = !quant.uniform<i8:f32, 2.500000e-01:-1>
!u = !quant.uniform<u8:f32, 5.000000e-01:128>

// Every input may have its own parameters.
// CHECK-LABEL: func.func @concat_int8(
// CHECK-SAME:    %[[A:[a-z0-9]+]]: tensor<2x3x!quant.uniform<i8:f32, 5.000000e-01:3>>
// CHECK-SAME:    %[[B:[a-z0-9]+]]: tensor<2x1x!quant.uniform<i8:f32, 2.500000e-01:-1>>
// CHECK-SAME:    %[[C:[a-z0-9]+]]: tensor<2x4x!quant.uniform<u8:f32, 5.000000e-01:128>>
// CHECK:         "qnn.concat"(%[[A]], %[[B]], %[[C]]) {axis = 1 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>}
// CHECK-SAME:      : (tensor<2x3x!quant.uniform<i8:f32, 5.000000e-01:3>>, tensor<2x1x!quant.uniform<i8:f32, 2.500000e-01:-1>>, tensor<2x4x!quant.uniform<u8:f32, 5.000000e-01:128>>) -> tensor<2x8x!quant.uniform<i8:f32, 5.000000e-01:3>>
func.func @concat_int8(%a: tensor<2x3x!q>, %b: tensor<2x1x!r>, %c: tensor<2x4x!u>) -> tensor<2x8x!q> {
  %result = "qnn.concat"(%a, %b, %c) {axis = 1 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>} : (tensor<2x3x!q>, tensor<2x1x!r>, tensor<2x4x!u>) -> tensor<2x8x!q>
  return %result : tensor<2x8x!q>
}

// CHECK-LABEL: func.func @concat_one(
// CHECK-SAME:    %[[A:[a-z0-9]+]]: tensor<2x3x!quant.uniform<i8:f32, 5.000000e-01:3>>
// CHECK:         "qnn.concat"(%[[A]]) {axis = 0 : i64, operandSegmentSizes = array<i32: 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>}
// CHECK-SAME:      : (tensor<2x3x!quant.uniform<i8:f32, 5.000000e-01:3>>) -> tensor<2x3x!quant.uniform<i8:f32, 5.000000e-01:3>>
func.func @concat_one(%a: tensor<2x3x!q>) -> tensor<2x3x!q> {
  %result = "qnn.concat"(%a) {axis = 0 : i64, operandSegmentSizes = array<i32: 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>} : (tensor<2x3x!q>) -> tensor<2x3x!q>
  return %result : tensor<2x3x!q>
}

// CHECK-LABEL: func.func @concat_float(
// CHECK-SAME:    %[[A:[a-z0-9]+]]: tensor<?x3xf32>
// CHECK-SAME:    %[[B:[a-z0-9]+]]: tensor<2x3xf32>
// CHECK:         "qnn.concat"(%[[A]], %[[B]]) {axis = 0 : i64, operandSegmentSizes = array<i32: 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>}
// CHECK-SAME:      : (tensor<?x3xf32>, tensor<2x3xf32>) -> tensor<?x3xf32>
func.func @concat_float(%a: tensor<?x3xf32>, %b: tensor<2x3xf32>) -> tensor<?x3xf32> {
  %result = "qnn.concat"(%a, %b) {axis = 0 : i64, operandSegmentSizes = array<i32: 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>} : (tensor<?x3xf32>, tensor<2x3xf32>) -> tensor<?x3xf32>
  return %result : tensor<?x3xf32>
}

// Ordinary integers move too.
// CHECK-LABEL: func.func @concat_integers(
// CHECK-SAME:    %[[A:[a-z0-9]+]]: tensor<2xi64>
// CHECK-SAME:    %[[B:[a-z0-9]+]]: tensor<1xi64>
// CHECK:         "qnn.concat"(%[[A]], %[[B]]) {axis = 0 : i64, operandSegmentSizes = array<i32: 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>}
// CHECK-SAME:      : (tensor<2xi64>, tensor<1xi64>) -> tensor<3xi64>
func.func @concat_integers(%a: tensor<2xi64>, %b: tensor<1xi64>) -> tensor<3xi64> {
  %result = "qnn.concat"(%a, %b) {axis = 0 : i64, operandSegmentSizes = array<i32: 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>} : (tensor<2xi64>, tensor<1xi64>) -> tensor<3xi64>
  return %result : tensor<3xi64>
}
