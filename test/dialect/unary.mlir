// RUN: qopt %s | qopt | %filecheck
!q = !quant.uniform<i8:f32, 5.000000e-01:3>
!r = !quant.uniform<u8:f32, 2.500000e-01:128>
!h = !quant.uniform<i16:f32, 7.812500e-03>

// CHECK-LABEL: func.func @unary_int8(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<4x!quant.uniform<i8:f32, 5.000000e-01:3>>
// CHECK:         "qnn.unary"(%[[X]]) {function = "abs"}
// CHECK-SAME:      : (tensor<4x!quant.uniform<i8:f32, 5.000000e-01:3>>) -> tensor<4x!quant.uniform<u8:f32, 2.500000e-01:128>>
func.func @unary_int8(%x: tensor<4x!q>) -> tensor<4x!r> {
  %result = "qnn.unary"(%x) {function = "abs"} : (tensor<4x!q>) -> tensor<4x!r>
  return %result : tensor<4x!r>
}

// CHECK-LABEL: func.func @unary_int16(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<4x!quant.uniform<i16:f32, 7.812500e-03>>
// CHECK:         "qnn.unary"(%[[X]]) {function = "exp"}
// CHECK-SAME:      : (tensor<4x!quant.uniform<i16:f32, 7.812500e-03>>) -> tensor<4x!quant.uniform<i16:f32, 7.812500e-03>>
func.func @unary_int16(%x: tensor<4x!h>) -> tensor<4x!h> {
  %result = "qnn.unary"(%x) {function = "exp"} : (tensor<4x!h>) -> tensor<4x!h>
  return %result : tensor<4x!h>
}

// CHECK-LABEL: func.func @unary_float(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<?x4xf32>
// CHECK:         "qnn.unary"(%[[X]]) {function = "gelu_tanh"}
// CHECK-SAME:      : (tensor<?x4xf32>) -> tensor<?x4xf32>
func.func @unary_float(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %result = "qnn.unary"(%x) {function = "gelu_tanh"} : (tensor<?x4xf32>) -> tensor<?x4xf32>
  return %result : tensor<?x4xf32>
}

// CHECK-LABEL: func.func @unary_integer(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<4xi64>
// CHECK:         "qnn.unary"(%[[X]]) {function = "neg"}
// CHECK-SAME:      : (tensor<4xi64>) -> tensor<4xi64>
func.func @unary_integer(%x: tensor<4xi64>) -> tensor<4xi64> {
  %result = "qnn.unary"(%x) {function = "neg"} : (tensor<4xi64>) -> tensor<4xi64>
  return %result : tensor<4xi64>
}

// CHECK-LABEL: func.func @unary_boolean(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<4xi1>
// CHECK:         "qnn.unary"(%[[X]]) {function = "logical_not"}
// CHECK-SAME:      : (tensor<4xi1>) -> tensor<4xi1>
func.func @unary_boolean(%x: tensor<4xi1>) -> tensor<4xi1> {
  %result = "qnn.unary"(%x) {function = "logical_not"} : (tensor<4xi1>) -> tensor<4xi1>
  return %result : tensor<4xi1>
}
