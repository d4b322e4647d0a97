// RUN: qopt %s | qopt | %filecheck

!q = !quant.uniform<i8:f32, 5.000000e-01:3>
!r = !quant.uniform<i8:f32, 2.500000e-01:-1>

// CHECK-LABEL: func.func @slice_int8(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<2x3x!quant.uniform<i8:f32, 5.000000e-01:3>>
// CHECK:         "qnn.slice"(%[[X]]) {offsets = array<i64: 0, 1>, sizes = array<i64: 2, 2>, strides = array<i64: 1, 1>}
// CHECK-SAME:      : (tensor<2x3x!quant.uniform<i8:f32, 5.000000e-01:3>>) -> tensor<2x2x!quant.uniform<i8:f32, 5.000000e-01:3>>
func.func @slice_int8(%x: tensor<2x3x!q>) -> tensor<2x2x!q> {
  %result = "qnn.slice"(%x) {offsets = array<i64: 0, 1>, sizes = array<i64: 2, 2>, strides = array<i64: 1, 1>} : (tensor<2x3x!q>) -> tensor<2x2x!q>
  return %result : tensor<2x2x!q>
}

// CHECK-LABEL: func.func @slice_strided(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<2x9x!quant.uniform<i8:f32, 5.000000e-01:3>>
// CHECK:         "qnn.slice"(%[[X]]) {offsets = array<i64: 0, 1>, sizes = array<i64: 1, 3>, strides = array<i64: 1, 3>}
// CHECK-SAME:      : (tensor<2x9x!quant.uniform<i8:f32, 5.000000e-01:3>>) -> tensor<1x3x!quant.uniform<i8:f32, 2.500000e-01:-1>>
func.func @slice_strided(%x: tensor<2x9x!q>) -> tensor<1x3x!r> {
  %result = "qnn.slice"(%x) {offsets = array<i64: 0, 1>, sizes = array<i64: 1, 3>, strides = array<i64: 1, 3>} : (tensor<2x9x!q>) -> tensor<1x3x!r>
  return %result : tensor<1x3x!r>
}

// CHECK-LABEL: func.func @slice_float(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<?x3xf32>
// CHECK:         "qnn.slice"(%[[X]]) {offsets = array<i64: 0, 1>, sizes = array<i64: 2, 2>, strides = array<i64: 1, 1>}
// CHECK-SAME:      : (tensor<?x3xf32>) -> tensor<2x2xf32>
func.func @slice_float(%x: tensor<?x3xf32>) -> tensor<2x2xf32> {
  %result = "qnn.slice"(%x) {offsets = array<i64: 0, 1>, sizes = array<i64: 2, 2>, strides = array<i64: 1, 1>} : (tensor<?x3xf32>) -> tensor<2x2xf32>
  return %result : tensor<2x2xf32>
}
