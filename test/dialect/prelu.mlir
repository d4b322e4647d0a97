// RUN: qopt %s | qopt | %filecheck
!q = !quant.uniform<i8:f32, 5.000000e-01:3>
!r = !quant.uniform<u8:f32, 2.500000e-01:128>
!h = !quant.uniform<i16:f32, 7.812500e-03>

// CHECK-LABEL: func.func @prelu_int8(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<2x4x!quant.uniform<i8:f32, 5.000000e-01:3>>
// CHECK-SAME:    %[[Y:[a-z0-9]+]]: tensor<4x!quant.uniform<u8:f32, 2.500000e-01:128>>
// CHECK:         "qnn.prelu"(%[[X]], %[[Y]])
// CHECK-SAME:      : (tensor<2x4x!quant.uniform<i8:f32, 5.000000e-01:3>>, tensor<4x!quant.uniform<u8:f32, 2.500000e-01:128>>) -> tensor<2x4x!quant.uniform<i8:f32, 5.000000e-01:3>>
func.func @prelu_int8(%x: tensor<2x4x!q>, %y: tensor<4x!r>) -> tensor<2x4x!q> {
  %result = "qnn.prelu"(%x, %y) : (tensor<2x4x!q>, tensor<4x!r>) -> tensor<2x4x!q>
  return %result : tensor<2x4x!q>
}

// CHECK-LABEL: func.func @prelu_int16(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<4x!quant.uniform<i16:f32, 7.812500e-03>>
// CHECK-SAME:    %[[Y:[a-z0-9]+]]: tensor<1x!quant.uniform<i16:f32, 7.812500e-03>>
// CHECK:         "qnn.prelu"(%[[X]], %[[Y]])
// CHECK-SAME:      : (tensor<4x!quant.uniform<i16:f32, 7.812500e-03>>, tensor<1x!quant.uniform<i16:f32, 7.812500e-03>>) -> tensor<4x!quant.uniform<i16:f32, 7.812500e-03>>
func.func @prelu_int16(%x: tensor<4x!h>, %y: tensor<1x!h>) -> tensor<4x!h> {
  %result = "qnn.prelu"(%x, %y) : (tensor<4x!h>, tensor<1x!h>) -> tensor<4x!h>
  return %result : tensor<4x!h>
}

// CHECK-LABEL: func.func @prelu_float(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<?x4xf32>
// CHECK-SAME:    %[[Y:[a-z0-9]+]]: tensor<4xf32>
// CHECK:         "qnn.prelu"(%[[X]], %[[Y]])
// CHECK-SAME:      : (tensor<?x4xf32>, tensor<4xf32>) -> tensor<?x4xf32>
func.func @prelu_float(%x: tensor<?x4xf32>, %y: tensor<4xf32>) -> tensor<?x4xf32> {
  %result = "qnn.prelu"(%x, %y) : (tensor<?x4xf32>, tensor<4xf32>) -> tensor<?x4xf32>
  return %result : tensor<?x4xf32>
}
