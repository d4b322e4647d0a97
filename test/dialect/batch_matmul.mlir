// RUN: qopt %s | qopt | %filecheck

!q = !quant.uniform<i8:f32, 5.000000e-01:3>
!r = !quant.uniform<i8:f32, 2.500000e-01:-1>
!h = !quant.uniform<i16:f32, 2.500000e-01>

// Batches broadcast; rhs is given as [..., N, K].
// CHECK-LABEL: func.func @batch_matmul(
// CHECK-SAME:    %[[A:[a-z0-9]+]]: tensor<3x2x8x!quant.uniform<i8:f32, 5.000000e-01:3>>
// CHECK-SAME:    %[[B:[a-z0-9]+]]: tensor<1x4x8x!quant.uniform<i8:f32, 2.500000e-01:-1>>
// CHECK:         "qnn.batch_matmul"(%[[A]], %[[B]]) {transpose_lhs = false, transpose_rhs = true}
func.func @batch_matmul(%a: tensor<3x2x8x!q>, %b: tensor<1x4x8x!r>) -> tensor<3x2x4x!q> {
  %result = "qnn.batch_matmul"(%a, %b) {transpose_lhs = false, transpose_rhs = true} : (tensor<3x2x8x!q>, tensor<1x4x8x!r>) -> tensor<3x2x4x!q>
  return %result : tensor<3x2x4x!q>
}

// Int16 with int8, an unknown batch
// CHECK-LABEL: func.func @batch_matmul_16x8(
// CHECK:         "qnn.batch_matmul"
// CHECK-SAME:      (tensor<?x8x2x!quant.uniform<i16:f32, 2.500000e-01>>, tensor<8x4x!quant.uniform<i8:f32, 2.500000e-01:-1>>) -> tensor<?x2x4x!quant.uniform<i16:f32, 2.500000e-01>>
func.func @batch_matmul_16x8(%a: tensor<?x8x2x!h>, %b: tensor<8x4x!r>) -> tensor<?x2x4x!h> {
  %result = "qnn.batch_matmul"(%a, %b) {transpose_lhs = true, transpose_rhs = false} : (tensor<?x8x2x!h>, tensor<8x4x!r>) -> tensor<?x2x4x!h>
  return %result : tensor<?x2x4x!h>
}

// CHECK-LABEL: func.func @batch_matmul_float(
// CHECK:         "qnn.batch_matmul"{{.*}} : (tensor<2x8xf32>, tensor<8x4xf32>) -> tensor<2x4xf32>
func.func @batch_matmul_float(%a: tensor<2x8xf32>, %b: tensor<8x4xf32>) -> tensor<2x4xf32> {
  %result = "qnn.batch_matmul"(%a, %b) {transpose_lhs = false, transpose_rhs = false} : (tensor<2x8xf32>, tensor<8x4xf32>) -> tensor<2x4xf32>
  return %result : tensor<2x4xf32>
}
