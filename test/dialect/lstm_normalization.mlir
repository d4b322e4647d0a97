// RUN: qopt %s | qopt | %filecheck
!b = !quant.uniform<i32:f32, 5.000000e-04>
!c = !quant.uniform<i16:f32, 2.44140625e-04>
!w = !quant.uniform<i16:f32, 3.000000e-04>

// CHECK-LABEL: func.func @lstm_normalization(
// CHECK-SAME:    %[[G:[a-z0-9]+]]: tensor<3x2x{{.*}}, %[[W:[a-z0-9]+]]: tensor<2x{{.*}}, %[[B:[a-z0-9]+]]: tensor<2x
// CHECK:         "qnn.lstm_normalization"(%[[G]], %[[W]], %[[B]]) : {{.*}} -> tensor<3x2x!quant.uniform<i16:f32, 2.44140625E-4>>
func.func @lstm_normalization(%g: tensor<3x2x!w>, %w: tensor<2x!w>, %b: tensor<2x!b>) -> tensor<3x2x!c> {
  %result = "qnn.lstm_normalization"(%g, %w, %b) : (tensor<3x2x!w>, tensor<2x!w>, tensor<2x!b>) -> tensor<3x2x!c>
  return %result : tensor<3x2x!c>
}
