// RUN: qopt %s | qopt | %filecheck
!b = !quant.uniform<i32:f32, 5.000000e-04>
!c = !quant.uniform<i16:f32, 2.44140625e-04>
!w = !quant.uniform<i16:f32, 3.000000e-04>

// CHECK-LABEL: func.func @lstm_gate(
// CHECK:         "qnn.lstm_gate"(%{{.*}}, %{{.*}}) {{.*}} : (tensor<3x2x!quant.uniform<i32:f32, {{.*}}) -> tensor<3x2x!quant.uniform<i16:f32, 3.000000e-04>>
func.func @lstm_gate(%x: tensor<3x2x!b>, %h: tensor<3x2x!b>) -> tensor<3x2x!w> {
  %result = "qnn.lstm_gate"(%x, %h) {operandSegmentSizes = array<i32: 1, 1, 0, 0>} : (tensor<3x2x!b>, tensor<3x2x!b>) -> tensor<3x2x!w>
  return %result : tensor<3x2x!w>
}

// CHECK-LABEL: func.func @lstm_gate_peephole(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<1x2x{{.*}}, %[[H:[a-z0-9]+]]: tensor<1x2x{{.*}}, %[[C:[a-z0-9]+]]: tensor<1x2x{{.*}}, %[[P:[a-z0-9]+]]: tensor<1x2x
// CHECK:         "qnn.lstm_gate"(%[[X]], %[[H]], %[[C]], %[[P]])
func.func @lstm_gate_peephole(%x: tensor<1x2x!b>, %h: tensor<1x2x!b>, %c: tensor<1x2x!c>, %p: tensor<1x2x!w>) -> tensor<1x2x!c> {
  %result = "qnn.lstm_gate"(%x, %h, %c, %p) {operandSegmentSizes = array<i32: 1, 1, 1, 1>} : (tensor<1x2x!b>, tensor<1x2x!b>, tensor<1x2x!c>, tensor<1x2x!w>) -> tensor<1x2x!c>
  return %result : tensor<1x2x!c>
}
