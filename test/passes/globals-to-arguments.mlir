// RUN: qopt %s -p globals-to-arguments | %filecheck

!q = !quant.uniform<i8:f32, 5.0e-01>

ml_program.global private mutable @"variable/past"(dense<3> : tensor<2xi8>) : tensor<2x!q>
ml_program.global private mutable @"variable/still"(dense<0> : tensor<2xi8>) : tensor<2x!q>

// A load behind a store gives what was stored; a variable that is only read gives no result.
// CHECK-NOT:   ml_program
// CHECK-LABEL: func.func @main(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<2x{{[^,]*}}, 5.000000e-01>>,
// CHECK-SAME:    %[[PAST:[a-z0-9]+]]: tensor<{{[^{]*}}{qnn.initial = dense<3> : tensor<2xi8>, qnn.role = "state", qnn.variable = "past"},
// CHECK-SAME:    %[[STILL:[a-z0-9]+]]: tensor<{{[^{]*}}{qnn.initial = dense<0> : tensor<2xi8>, qnn.role = "state", qnn.variable = "still"})
// CHECK-SAME:    -> (tensor<{{[^,]*}}, 5.000000e-01>>, tensor<{{[^{]*}}{qnn.variable = "past"})
// CHECK-NEXT:    %[[A:.+]] = "qnn.add"(%[[PAST]], %[[X]])
// CHECK-NEXT:    %[[B:.+]] = "qnn.add"(%[[A]], %[[STILL]])
// CHECK-NEXT:    return %[[B]], %[[A]]
func.func @main(%x: tensor<2x!q>) -> tensor<2x!q> {
  %0 = ml_program.global_load @"variable/past" : tensor<2x!q>
  %1 = "qnn.add"(%0, %x) {clamp = array<f32>} : (tensor<2x!q>, tensor<2x!q>) -> tensor<2x!q>
  ml_program.global_store @"variable/past" = %1 : tensor<2x!q>
  %2 = ml_program.global_load @"variable/past" : tensor<2x!q>
  %3 = ml_program.global_load @"variable/still" : tensor<2x!q>
  %4 = "qnn.add"(%2, %3) {clamp = array<f32>} : (tensor<2x!q>, tensor<2x!q>) -> tensor<2x!q>
  return %4 : tensor<2x!q>
}
