// RUN: qopt %s | qopt | %filecheck

!q = !quant.uniform<i8:f32, 5.000000e-01:3>
!r = !quant.uniform<i8:f32, 2.500000e-01:-1>

// CHECK-LABEL: func.func @dynamic_slice_int8(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<8x3x!quant.uniform<i8:f32, 5.000000e-01:3>>
// CHECK-SAME:    %[[B:[a-z0-9]+]]: tensor<2xi32>
// CHECK:         "qnn.dynamic_slice"(%[[X]], %[[B]])
// CHECK-SAME:      : (tensor<8x3x!quant.uniform<i8:f32, 5.000000e-01:3>>, tensor<2xi32>) -> tensor<2x3x!quant.uniform<i8:f32, 2.500000e-01:-1>>
func.func @dynamic_slice_int8(%x: tensor<8x3x!q>, %b: tensor<2xi32>) -> tensor<2x3x!r> {
  %result = "qnn.dynamic_slice"(%x, %b) : (tensor<8x3x!q>, tensor<2xi32>) -> tensor<2x3x!r>
  return %result : tensor<2x3x!r>
}

// CHECK-LABEL: func.func @dynamic_slice_bool(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<8x3xi1>
// CHECK-SAME:    %[[B:[a-z0-9]+]]: tensor<2xi64>
// CHECK:         "qnn.dynamic_slice"(%[[X]], %[[B]])
// CHECK-SAME:      : (tensor<8x3xi1>, tensor<2xi64>) -> tensor<8x1xi1>
func.func @dynamic_slice_bool(%x: tensor<8x3xi1>, %b: tensor<2xi64>) -> tensor<8x1xi1> {
  %result = "qnn.dynamic_slice"(%x, %b) : (tensor<8x3xi1>, tensor<2xi64>) -> tensor<8x1xi1>
  return %result : tensor<8x1xi1>
}
