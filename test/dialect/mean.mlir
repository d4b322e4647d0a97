// RUN: qopt %s | qopt | %filecheck

!q = !quant.uniform<i8:f32, 5.000000e-01:3>
!r = !quant.uniform<i8:f32, 2.500000e-01:-1>
!u = !quant.uniform<u8:f32, 5.000000e-01:128>

// Spatial mean, dimensions dropped, other parameters
// CHECK-LABEL: func.func @mean_spatial(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<1x8x8x2x!quant.uniform<i8:f32, 5.000000e-01:3>>
// CHECK:         "qnn.mean"(%[[X]]) {axes = array<i64: 1, 2>, keep_dims = false}
// CHECK-SAME:      : (tensor<1x8x8x2x!quant.uniform<i8:f32, 5.000000e-01:3>>) -> tensor<1x2x!quant.uniform<i8:f32, 2.500000e-01:-1>>
func.func @mean_spatial(%x: tensor<1x8x8x2x!q>) -> tensor<1x2x!r> {
  %result = "qnn.mean"(%x) {axes = array<i64: 1, 2>, keep_dims = false} : (tensor<1x8x8x2x!q>) -> tensor<1x2x!r>
  return %result : tensor<1x2x!r>
}

// CHECK-LABEL: func.func @mean_keep_dims(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<1x8x8x2x!quant.uniform<u8:f32, 5.000000e-01:128>>
// CHECK:         "qnn.mean"(%[[X]]) {axes = array<i64: 3, 1>, keep_dims = true}
// CHECK-SAME:      : (tensor<1x8x8x2x!quant.uniform<u8:f32, 5.000000e-01:128>>) -> tensor<1x1x8x1x!quant.uniform<u8:f32, 5.000000e-01:128>>
func.func @mean_keep_dims(%x: tensor<1x8x8x2x!u>) -> tensor<1x1x8x1x!u> {
  %result = "qnn.mean"(%x) {axes = array<i64: 3, 1>, keep_dims = true} : (tensor<1x8x8x2x!u>) -> tensor<1x1x8x1x!u>
  return %result : tensor<1x1x8x1x!u>
}

// CHECK-LABEL: func.func @mean_float(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<?x8xf32>
// CHECK:         "qnn.mean"(%[[X]]) {axes = array<i64: 1>, keep_dims = false}
// CHECK-SAME:      : (tensor<?x8xf32>) -> tensor<?xf32>
func.func @mean_float(%x: tensor<?x8xf32>) -> tensor<?xf32> {
  %result = "qnn.mean"(%x) {axes = array<i64: 1>, keep_dims = false} : (tensor<?x8xf32>) -> tensor<?xf32>
  return %result : tensor<?xf32>
}
