// RUN: qopt %s | qopt | %filecheck

// CHECK-LABEL: func.func @decode_boxes(
// CHECK-SAME:    %[[E:[a-z0-9]+]]: tensor<9x4xf32>, %[[A:[a-z0-9]+]]: tensor<9x4xf32>
// CHECK:         "qnn.decode_boxes"(%[[E]], %[[A]])
// CHECK-SAME:      scales = array<f32: 1.000000e+01, 1.000000e+01, 5.000000e+00, 5.000000e+00>
// CHECK-SAME:      -> tensor<9x4xf32>
func.func @decode_boxes(%e: tensor<9x4xf32>, %a: tensor<9x4xf32>) -> tensor<9x4xf32> {
  %result = "qnn.decode_boxes"(%e, %a) {scales = array<f32: 10.0, 10.0, 5.0, 5.0>}
      : (tensor<9x4xf32>, tensor<9x4xf32>) -> tensor<9x4xf32>
  return %result : tensor<9x4xf32>
}
