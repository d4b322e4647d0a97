// RUN: qopt %s | qopt | %filecheck

!q = !quant.uniform<i8:f32, 5.000000e-01:3>
!r = !quant.uniform<i8:f32, 2.500000e-01:-1>

// CHECK-LABEL: func.func @dynamic_update_slice_int8(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<8x3x!quant.uniform<i8:f32, 5.000000e-01:3>>
// CHECK-SAME:    %[[U:[a-z0-9]+]]: tensor<2x3x!quant.uniform<i8:f32, 5.000000e-01:3>>
// CHECK-SAME:    %[[B:[a-z0-9]+]]: tensor<2xi32>
// CHECK:         "qnn.dynamic_update_slice"(%[[X]], %[[U]], %[[B]])
// CHECK-SAME:      : (tensor<8x3x!quant.uniform<i8:f32, 5.000000e-01:3>>, tensor<2x3x!quant.uniform<i8:f32, 5.000000e-01:3>>, tensor<2xi32>) -> tensor<8x3x!quant.uniform<i8:f32, 2.500000e-01:-1>>
func.func @dynamic_update_slice_int8(%x: tensor<8x3x!q>, %u: tensor<2x3x!q>, %b: tensor<2xi32>) -> tensor<8x3x!r> {
  %result = "qnn.dynamic_update_slice"(%x, %u, %b) : (tensor<8x3x!q>, tensor<2x3x!q>, tensor<2xi32>) -> tensor<8x3x!r>
  return %result : tensor<8x3x!r>
}

// CHECK-LABEL: func.func @dynamic_update_slice_float(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<8x3xf32>
// CHECK-SAME:    %[[U:[a-z0-9]+]]: tensor<1x1xf32>
// CHECK-SAME:    %[[B:[a-z0-9]+]]: tensor<2xi32>
// CHECK:         "qnn.dynamic_update_slice"(%[[X]], %[[U]], %[[B]])
// CHECK-SAME:      : (tensor<8x3xf32>, tensor<1x1xf32>, tensor<2xi32>) -> tensor<8x3xf32>
func.func @dynamic_update_slice_float(%x: tensor<8x3xf32>, %u: tensor<1x1xf32>, %b: tensor<2xi32>) -> tensor<8x3xf32> {
  %result = "qnn.dynamic_update_slice"(%x, %u, %b) : (tensor<8x3xf32>, tensor<1x1xf32>, tensor<2xi32>) -> tensor<8x3xf32>
  return %result : tensor<8x3xf32>
}
