// RUN: qopt %s | qopt | %filecheck

!q = !quant.uniform<i8:f32, 5.000000e-01:3>
!r = !quant.uniform<i8:f32, 2.500000e-01:-1>

// With the zero point
// CHECK-LABEL: func.func @pad_int8(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<2x3x!quant.uniform<i8:f32, 5.000000e-01:3>>
// CHECK:         "qnn.pad"(%[[X]]) {high = array<i64: 0, 2>, low = array<i64: 0, 1>, value = 0.000000e+00 : f32}
// CHECK-SAME:      : (tensor<2x3x!quant.uniform<i8:f32, 5.000000e-01:3>>) -> tensor<2x6x!quant.uniform<i8:f32, 5.000000e-01:3>>
func.func @pad_int8(%x: tensor<2x3x!q>) -> tensor<2x6x!q> {
  %result = "qnn.pad"(%x) {high = array<i64: 0, 2>, low = array<i64: 0, 1>, value = 0.000000e+00 : f32} : (tensor<2x3x!q>) -> tensor<2x6x!q>
  return %result : tensor<2x6x!q>
}

// With the lowest value, to other parameters
// CHECK-LABEL: func.func @pad_lowest(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<2x3x!quant.uniform<i8:f32, 5.000000e-01:3>>
// CHECK:         "qnn.pad"(%[[X]]) {high = array<i64: 0, 2>, low = array<i64: 0, 1>, value = 0xFF800000 : f32}
// CHECK-SAME:      : (tensor<2x3x!quant.uniform<i8:f32, 5.000000e-01:3>>) -> tensor<2x6x!quant.uniform<i8:f32, 2.500000e-01:-1>>
func.func @pad_lowest(%x: tensor<2x3x!q>) -> tensor<2x6x!r> {
  %result = "qnn.pad"(%x) {high = array<i64: 0, 2>, low = array<i64: 0, 1>, value = 0xFF800000 : f32} : (tensor<2x3x!q>) -> tensor<2x6x!r>
  return %result : tensor<2x6x!r>
}

// CHECK-LABEL: func.func @pad_float(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<?x3xf32>
// CHECK:         "qnn.pad"(%[[X]]) {high = array<i64: 0, 2>, low = array<i64: 1, 0>, value = 1.500000e+00 : f32}
// CHECK-SAME:      : (tensor<?x3xf32>) -> tensor<?x5xf32>
func.func @pad_float(%x: tensor<?x3xf32>) -> tensor<?x5xf32> {
  %result = "qnn.pad"(%x) {high = array<i64: 0, 2>, low = array<i64: 1, 0>, value = 1.500000e+00 : f32} : (tensor<?x3xf32>) -> tensor<?x5xf32>
  return %result : tensor<?x5xf32>
}
