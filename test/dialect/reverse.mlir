// RUN: qopt %s | qopt | %filecheck

!q = !quant.uniform<i8:f32, 5.000000e-01:3>
!r = !quant.uniform<i8:f32, 2.500000e-01:-1>

// CHECK-LABEL: func.func @reverse_int8(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<2x3x!quant.uniform<i8:f32, 5.000000e-01:3>>
// CHECK:         "qnn.reverse"(%[[X]]) {axes = array<i64: 1>}
// CHECK-SAME:      : (tensor<2x3x!quant.uniform<i8:f32, 5.000000e-01:3>>) -> tensor<2x3x!quant.uniform<i8:f32, 2.500000e-01:-1>>
func.func @reverse_int8(%x: tensor<2x3x!q>) -> tensor<2x3x!r> {
  %result = "qnn.reverse"(%x) {axes = array<i64: 1>} : (tensor<2x3x!q>) -> tensor<2x3x!r>
  return %result : tensor<2x3x!r>
}

// CHECK-LABEL: func.func @reverse_both(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<2x3xi1>
// CHECK:         "qnn.reverse"(%[[X]]) {axes = array<i64: 0, 1>}
// CHECK-SAME:      : (tensor<2x3xi1>) -> tensor<2x3xi1>
func.func @reverse_both(%x: tensor<2x3xi1>) -> tensor<2x3xi1> {
  %result = "qnn.reverse"(%x) {axes = array<i64: 0, 1>} : (tensor<2x3xi1>) -> tensor<2x3xi1>
  return %result : tensor<2x3xi1>
}
