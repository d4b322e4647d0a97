// RUN: qopt %s | qopt | %filecheck
!q = !quant.uniform<i8:f32, 5.000000e-01:3>
!r = !quant.uniform<u8:f32, 2.500000e-01:128>
!h = !quant.uniform<i16:f32, 7.812500e-03>

// CHECK-LABEL: func.func @reduce_max_int8(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<1x4x4x3x!quant.uniform<i8:f32, 5.000000e-01:3>>
// CHECK:         "qnn.reduce_max"(%[[X]]) {axes = array<i64: 1, 2>, keep_dims = false}
// CHECK-SAME:      : (tensor<1x4x4x3x!quant.uniform<i8:f32, 5.000000e-01:3>>) -> tensor<1x3x!quant.uniform<u8:f32, 2.500000e-01:128>>
func.func @reduce_max_int8(%x: tensor<1x4x4x3x!q>) -> tensor<1x3x!r> {
  %result = "qnn.reduce_max"(%x) {axes = array<i64: 1, 2>, keep_dims = false} : (tensor<1x4x4x3x!q>) -> tensor<1x3x!r>
  return %result : tensor<1x3x!r>
}

// CHECK-LABEL: func.func @reduce_max_int16(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<4x!quant.uniform<i16:f32, 7.812500e-03>>
// CHECK:         "qnn.reduce_max"(%[[X]]) {axes = array<i64: 0>, keep_dims = true}
// CHECK-SAME:      : (tensor<4x!quant.uniform<i16:f32, 7.812500e-03>>) -> tensor<1x!quant.uniform<i16:f32, 7.812500e-03>>
func.func @reduce_max_int16(%x: tensor<4x!h>) -> tensor<1x!h> {
  %result = "qnn.reduce_max"(%x) {axes = array<i64: 0>, keep_dims = true} : (tensor<4x!h>) -> tensor<1x!h>
  return %result : tensor<1x!h>
}

// CHECK-LABEL: func.func @reduce_max_float(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<?x4xf32>
// CHECK:         "qnn.reduce_max"(%[[X]]) {axes = array<i64: 1>, keep_dims = false}
// CHECK-SAME:      : (tensor<?x4xf32>) -> tensor<?xf32>
func.func @reduce_max_float(%x: tensor<?x4xf32>) -> tensor<?xf32> {
  %result = "qnn.reduce_max"(%x) {axes = array<i64: 1>, keep_dims = false} : (tensor<?x4xf32>) -> tensor<?xf32>
  return %result : tensor<?xf32>
}

// CHECK-LABEL: func.func @reduce_max_integer(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<4xi64>
// CHECK:         "qnn.reduce_max"(%[[X]]) {axes = array<i64: 0>, keep_dims = false}
// CHECK-SAME:      : (tensor<4xi64>) -> tensor<i64>
func.func @reduce_max_integer(%x: tensor<4xi64>) -> tensor<i64> {
  %result = "qnn.reduce_max"(%x) {axes = array<i64: 0>, keep_dims = false} : (tensor<4xi64>) -> tensor<i64>
  return %result : tensor<i64>
}
