// RUN: qopt %s | qopt | %filecheck
!a = !quant.uniform<i32:f32:{1:2}, {{1.000000e-03, 2.000000e-03, 3.000000e-03, 4.000000e-03}}>
!b = !quant.uniform<i32:f32, 5.000000e-04>
!c = !quant.uniform<i16:f32, 2.44140625e-04>
!q = !quant.uniform<i8:f32, 7.812500e-03:-3>

// CHECK-LABEL: func.func @lstm_hidden(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<3x8x!quant.uniform<i32:f32:{1:2}, {{.*}}, %[[H:[a-z0-9]+]]: tensor<3x8x{{.*}}, %[[C:[a-z0-9]+]]: tensor<3x2x
// CHECK:         "qnn.lstm_hidden"(%[[X]], %[[H]], %[[C]])
// CHECK-SAME:      -> tensor<3x2x!quant.uniform<i8:f32, 7.812500e-03:-3>>
func.func @lstm_hidden(%x: tensor<3x8x!a>, %h: tensor<3x8x!b>, %c: tensor<3x2x!c>) -> tensor<3x2x!q> {
  %result = "qnn.lstm_hidden"(%x, %h, %c) : (tensor<3x8x!a>, tensor<3x8x!b>, tensor<3x2x!c>) -> tensor<3x2x!q>
  return %result : tensor<3x2x!q>
}
