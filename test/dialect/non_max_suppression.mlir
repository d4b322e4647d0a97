// RUN: qopt %s | qopt | %filecheck

// CHECK-LABEL: func.func @non_max_suppression(
// CHECK-SAME:    %[[B:[a-z0-9]+]]: tensor<9x4xf32>, %[[S:[a-z0-9]+]]: tensor<3x9xf32>
// CHECK:         "qnn.non_max_suppression"(%[[B]], %[[S]])
// CHECK-SAME:      iou_threshold = 6.000000e-01 : f32
// CHECK-SAME:      score_threshold = 5.000000e-01 : f32
// CHECK-SAME:      -> tensor<3x5xi32>
func.func @non_max_suppression(%b: tensor<9x4xf32>, %s: tensor<3x9xf32>) -> tensor<3x5xi32> {
  %result = "qnn.non_max_suppression"(%b, %s) {score_threshold = 0.5 : f32, iou_threshold = 0.6 : f32}
      : (tensor<9x4xf32>, tensor<3x9xf32>) -> tensor<3x5xi32>
  return %result : tensor<3x5xi32>
}
