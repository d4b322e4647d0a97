// RUN: qopt %s | qopt | %filecheck
!a = !quant.uniform<i32:f32:{1:2}, {{1.000000e-03, 2.000000e-03, 3.000000e-03, 4.000000e-03}}>
!b = !quant.uniform<i32:f32, 5.000000e-04>
!c = !quant.uniform<i16:f32, 2.44140625e-04>

// CHECK-LABEL: func.func @lstm_cell(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<3x8x!quant.uniform<i32:f32:{1:2}, {{.*}}, %[[H:[a-z0-9]+]]: tensor<3x8x{{.*}}, %[[C:[a-z0-9]+]]: tensor<3x2x
// CHECK:         "qnn.lstm_cell"(%[[X]], %[[H]], %[[C]]) {clamp = array<f32: -1.000000e+00, 1.000000e+00>}
// CHECK-SAME:      -> tensor<3x2x!quant.uniform<i16:f32, 2.44140625E-4>>
func.func @lstm_cell(%x: tensor<3x8x!a>, %h: tensor<3x8x!b>, %c: tensor<3x2x!c>) -> tensor<3x2x!c> {
  %result = "qnn.lstm_cell"(%x, %h, %c) {clamp = array<f32: -1.0, 1.0>} : (tensor<3x8x!a>, tensor<3x8x!b>, tensor<3x2x!c>) -> tensor<3x2x!c>
  return %result : tensor<3x2x!c>
}

// CHECK-LABEL: func.func @lstm_cell_coupled(
// CHECK:         "qnn.lstm_cell"({{.*}}) {clamp = array<f32>} : (tensor<1x6x
func.func @lstm_cell_coupled(%x: tensor<1x6x!b>, %h: tensor<1x6x!b>, %c: tensor<1x2x!c>) -> tensor<1x2x!c> {
  %result = "qnn.lstm_cell"(%x, %h, %c) {clamp = array<f32>} : (tensor<1x6x!b>, tensor<1x6x!b>, tensor<1x2x!c>) -> tensor<1x2x!c>
  return %result : tensor<1x2x!c>
}
