// RUN: qopt %s | qopt | %filecheck
!q = !quant.uniform<i8:f32, 5.000000e-01:3>
!r = !quant.uniform<u8:f32, 2.500000e-01:128>

// CHECK-LABEL: func.func @log_softmax_int8(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<2x8x!quant.uniform<i8:f32, 5.000000e-01:3>>
// CHECK:         "qnn.log_softmax"(%[[X]]) {axis = 1 : i64}
// CHECK-SAME:      : (tensor<2x8x!quant.uniform<i8:f32, 5.000000e-01:3>>) -> tensor<2x8x!quant.uniform<i8:f32, 5.000000e-01:3>>
func.func @log_softmax_int8(%x: tensor<2x8x!q>) -> tensor<2x8x!q> {
  %result = "qnn.log_softmax"(%x) {axis = 1 : i64} : (tensor<2x8x!q>) -> tensor<2x8x!q>
  return %result : tensor<2x8x!q>
}

// CHECK-LABEL: func.func @log_softmax_uint8(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<2x8x!quant.uniform<u8:f32, 2.500000e-01:128>>
// CHECK:         "qnn.log_softmax"(%[[X]]) {axis = 1 : i64}
// CHECK-SAME:      : (tensor<2x8x!quant.uniform<u8:f32, 2.500000e-01:128>>) -> tensor<2x8x!quant.uniform<u8:f32, 2.500000e-01:128>>
func.func @log_softmax_uint8(%x: tensor<2x8x!r>) -> tensor<2x8x!r> {
  %result = "qnn.log_softmax"(%x) {axis = 1 : i64} : (tensor<2x8x!r>) -> tensor<2x8x!r>
  return %result : tensor<2x8x!r>
}

// CHECK-LABEL: func.func @log_softmax_float(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<?x8xf32>
// CHECK:         "qnn.log_softmax"(%[[X]]) {axis = 1 : i64}
// CHECK-SAME:      : (tensor<?x8xf32>) -> tensor<?x8xf32>
func.func @log_softmax_float(%x: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %result = "qnn.log_softmax"(%x) {axis = 1 : i64} : (tensor<?x8xf32>) -> tensor<?x8xf32>
  return %result : tensor<?x8xf32>
}
