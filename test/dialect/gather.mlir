// RUN: qopt %s | qopt | %filecheck

!q = !quant.uniform<i8:f32, 5.000000e-01:3>
!r = !quant.uniform<i8:f32, 2.500000e-01:-1>

// CHECK-LABEL: func.func @gather_int8(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<2x8x3x!quant.uniform<i8:f32, 5.000000e-01:3>>
// CHECK-SAME:    %[[I:[a-z0-9]+]]: tensor<5x1xi32>
// CHECK:         "qnn.gather"(%[[X]], %[[I]]) {axis = 1 : i64, batch_dims = 0 : i64}
// CHECK-SAME:      : (tensor<2x8x3x!quant.uniform<i8:f32, 5.000000e-01:3>>, tensor<5x1xi32>) -> tensor<2x5x3x!quant.uniform<i8:f32, 2.500000e-01:-1>>
func.func @gather_int8(%x: tensor<2x8x3x!q>, %i: tensor<5x1xi32>) -> tensor<2x5x3x!r> {
  %result = "qnn.gather"(%x, %i) {axis = 1 : i64, batch_dims = 0 : i64} : (tensor<2x8x3x!q>, tensor<5x1xi32>) -> tensor<2x5x3x!r>
  return %result : tensor<2x5x3x!r>
}

// CHECK-LABEL: func.func @gather_nd(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<2x8x3xi64>
// CHECK-SAME:    %[[I:[a-z0-9]+]]: tensor<5x2xi64>
// CHECK:         "qnn.gather"(%[[X]], %[[I]]) {axis = 0 : i64, batch_dims = 0 : i64}
// CHECK-SAME:      : (tensor<2x8x3xi64>, tensor<5x2xi64>) -> tensor<5x3xi64>
func.func @gather_nd(%x: tensor<2x8x3xi64>, %i: tensor<5x2xi64>) -> tensor<5x3xi64> {
  %result = "qnn.gather"(%x, %i) {axis = 0 : i64, batch_dims = 0 : i64} : (tensor<2x8x3xi64>, tensor<5x2xi64>) -> tensor<5x3xi64>
  return %result : tensor<5x3xi64>
}

// CHECK-LABEL: func.func @gather_batch(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<2x8x3xf32>
// CHECK-SAME:    %[[I:[a-z0-9]+]]: tensor<2x4x1xi32>
// CHECK:         "qnn.gather"(%[[X]], %[[I]]) {axis = 1 : i64, batch_dims = 1 : i64}
// CHECK-SAME:      : (tensor<2x8x3xf32>, tensor<2x4x1xi32>) -> tensor<2x4x3xf32>
func.func @gather_batch(%x: tensor<2x8x3xf32>, %i: tensor<2x4x1xi32>) -> tensor<2x4x3xf32> {
  %result = "qnn.gather"(%x, %i) {axis = 1 : i64, batch_dims = 1 : i64} : (tensor<2x8x3xf32>, tensor<2x4x1xi32>) -> tensor<2x4x3xf32>
  return %result : tensor<2x4x3xf32>
}
