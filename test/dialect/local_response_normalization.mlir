// RUN: qopt %s | qopt | %filecheck

// CHECK-LABEL: func.func @local_response_normalization_float(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<2x4x4x8xf32>
// CHECK:         "qnn.local_response_normalization"(%[[X]]) {alpha = 5.000000e-01 : f32, beta = 7.500000e-01 : f32, bias = 1.000000e+00 : f32, radius = 2 : i64}
// CHECK-SAME:      : (tensor<2x4x4x8xf32>) -> tensor<2x4x4x8xf32>
func.func @local_response_normalization_float(%x: tensor<2x4x4x8xf32>) -> tensor<2x4x4x8xf32> {
  %result = "qnn.local_response_normalization"(%x) {alpha = 5.000000e-01 : f32, beta = 7.500000e-01 : f32, bias = 1.000000e+00 : f32, radius = 2 : i64} : (tensor<2x4x4x8xf32>) -> tensor<2x4x4x8xf32>
  return %result : tensor<2x4x4x8xf32>
}
