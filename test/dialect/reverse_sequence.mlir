// RUN: qopt %s | qopt | %filecheck

!q = !quant.uniform<i8:f32, 5.000000e-01:3>
!r = !quant.uniform<i8:f32, 2.500000e-01:-1>

// CHECK-LABEL: func.func @reverse_sequence_int8(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<2x5x3x!quant.uniform<i8:f32, 5.000000e-01:3>>
// CHECK-SAME:    %[[N:[a-z0-9]+]]: tensor<2xi32>
// CHECK:         "qnn.reverse_sequence"(%[[X]], %[[N]]) {axis = 1 : i64, batch_axis = 0 : i64}
// CHECK-SAME:      : (tensor<2x5x3x!quant.uniform<i8:f32, 5.000000e-01:3>>, tensor<2xi32>) -> tensor<2x5x3x!quant.uniform<i8:f32, 2.500000e-01:-1>>
func.func @reverse_sequence_int8(%x: tensor<2x5x3x!q>, %n: tensor<2xi32>) -> tensor<2x5x3x!r> {
  %result = "qnn.reverse_sequence"(%x, %n) {axis = 1 : i64, batch_axis = 0 : i64} : (tensor<2x5x3x!q>, tensor<2xi32>) -> tensor<2x5x3x!r>
  return %result : tensor<2x5x3x!r>
}

// CHECK-LABEL: func.func @reverse_sequence_float(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<5x2xf32>
// CHECK-SAME:    %[[N:[a-z0-9]+]]: tensor<2xi64>
// CHECK:         "qnn.reverse_sequence"(%[[X]], %[[N]]) {axis = 0 : i64, batch_axis = 1 : i64}
// CHECK-SAME:      : (tensor<5x2xf32>, tensor<2xi64>) -> tensor<5x2xf32>
func.func @reverse_sequence_float(%x: tensor<5x2xf32>, %n: tensor<2xi64>) -> tensor<5x2xf32> {
  %result = "qnn.reverse_sequence"(%x, %n) {axis = 0 : i64, batch_axis = 1 : i64} : (tensor<5x2xf32>, tensor<2xi64>) -> tensor<5x2xf32>
  return %result : tensor<5x2xf32>
}
