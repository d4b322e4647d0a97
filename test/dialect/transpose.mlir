// RUN: qopt %s | qopt | %filecheck

!q = !quant.uniform<i8:f32, 5.000000e-01:3>
!u = !quant.uniform<u8:f32, 5.000000e-01:128>

// CHECK-LABEL: func.func @transpose_int8(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<1x2x3x4x!quant.uniform<i8:f32, 5.000000e-01:3>>
// CHECK:         "qnn.transpose"(%[[X]]) {permutation = array<i64: 0, 3, 1, 2>}
// CHECK-SAME:      : (tensor<1x2x3x4x!quant.uniform<i8:f32, 5.000000e-01:3>>) -> tensor<1x4x2x3x!quant.uniform<i8:f32, 5.000000e-01:3>>
func.func @transpose_int8(%x: tensor<1x2x3x4x!q>) -> tensor<1x4x2x3x!q> {
  %result = "qnn.transpose"(%x) {permutation = array<i64: 0, 3, 1, 2>} : (tensor<1x2x3x4x!q>) -> tensor<1x4x2x3x!q>
  return %result : tensor<1x4x2x3x!q>
}

// CHECK-LABEL: func.func @transpose_requantizes(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<2x3x!quant.uniform<u8:f32, 5.000000e-01:128>>
// CHECK:         "qnn.transpose"(%[[X]]) {permutation = array<i64: 1, 0>}
// CHECK-SAME:      : (tensor<2x3x!quant.uniform<u8:f32, 5.000000e-01:128>>) -> tensor<3x2x!quant.uniform<i8:f32, 5.000000e-01:3>>
func.func @transpose_requantizes(%x: tensor<2x3x!u>) -> tensor<3x2x!q> {
  %result = "qnn.transpose"(%x) {permutation = array<i64: 1, 0>} : (tensor<2x3x!u>) -> tensor<3x2x!q>
  return %result : tensor<3x2x!q>
}

// CHECK-LABEL: func.func @transpose_float(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<?x3xf32>
// CHECK:         "qnn.transpose"(%[[X]]) {permutation = array<i64: 1, 0>}
// CHECK-SAME:      : (tensor<?x3xf32>) -> tensor<3x?xf32>
func.func @transpose_float(%x: tensor<?x3xf32>) -> tensor<3x?xf32> {
  %result = "qnn.transpose"(%x) {permutation = array<i64: 1, 0>} : (tensor<?x3xf32>) -> tensor<3x?xf32>
  return %result : tensor<3x?xf32>
}
