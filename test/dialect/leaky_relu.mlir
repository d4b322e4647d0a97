// RUN: qopt %s | qopt | %filecheck
!q = !quant.uniform<i8:f32, 5.000000e-01:3>
!r = !quant.uniform<u8:f32, 2.500000e-01:128>
!h = !quant.uniform<i16:f32, 7.812500e-03>

// CHECK-LABEL: func.func @leaky_relu_int8(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<4x!quant.uniform<i8:f32, 5.000000e-01:3>>
// CHECK:         "qnn.leaky_relu"(%[[X]]) {alpha = 2.500000e-01 : f32}
// CHECK-SAME:      : (tensor<4x!quant.uniform<i8:f32, 5.000000e-01:3>>) -> tensor<4x!quant.uniform<u8:f32, 2.500000e-01:128>>
func.func @leaky_relu_int8(%x: tensor<4x!q>) -> tensor<4x!r> {
  %result = "qnn.leaky_relu"(%x) {alpha = 2.500000e-01 : f32} : (tensor<4x!q>) -> tensor<4x!r>
  return %result : tensor<4x!r>
}

// CHECK-LABEL: func.func @leaky_relu_int16(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<4x!quant.uniform<i16:f32, 7.812500e-03>>
// CHECK:         "qnn.leaky_relu"(%[[X]]) {alpha = -2.000000e+00 : f32}
// CHECK-SAME:      : (tensor<4x!quant.uniform<i16:f32, 7.812500e-03>>) -> tensor<4x!quant.uniform<i16:f32, 7.812500e-03>>
func.func @leaky_relu_int16(%x: tensor<4x!h>) -> tensor<4x!h> {
  %result = "qnn.leaky_relu"(%x) {alpha = -2.000000e+00 : f32} : (tensor<4x!h>) -> tensor<4x!h>
  return %result : tensor<4x!h>
}

// CHECK-LABEL: func.func @leaky_relu_float(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<?x4xf32>
// CHECK:         "qnn.leaky_relu"(%[[X]]) {alpha = 0.000000e+00 : f32}
// CHECK-SAME:      : (tensor<?x4xf32>) -> tensor<?x4xf32>
func.func @leaky_relu_float(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %result = "qnn.leaky_relu"(%x) {alpha = 0.000000e+00 : f32} : (tensor<?x4xf32>) -> tensor<?x4xf32>
  return %result : tensor<?x4xf32>
}
