// RUN: qopt %s | qopt | %filecheck

!u = !quant.uniform<u8:f32, 5.000000e-01:128>
!c = !quant.uniform<i8:f32:0, {2.500000e-01,5.000000e-01}>
!s = !quant.uniform<i4:f32:{0:1, 1:2}, {{5.000000e-01, 2.500000e-01:1}, {1.000000e+00, 2.000000e+00}}>

// CHECK-LABEL: func.func @dequantize_uint8(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<?x4x!quant.uniform<u8:f32, 5.000000e-01:128>>
// CHECK:         "qnn.dequantize"(%[[X]])
// CHECK-SAME:      : (tensor<?x4x!quant.uniform<u8:f32, 5.000000e-01:128>>) -> tensor<?x4xf32>
func.func @dequantize_uint8(%x: tensor<?x4x!u>) -> tensor<?x4xf32> {
  %result = "qnn.dequantize"(%x) : (tensor<?x4x!u>) -> tensor<?x4xf32>
  return %result : tensor<?x4xf32>
}

// CHECK-LABEL: func.func @dequantize_per_axis(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<2x4x!quant.uniform<i8:f32:0, {2.500000e-01,5.000000e-01}>>
// CHECK:         "qnn.dequantize"(%[[X]])
// CHECK-SAME:      : (tensor<2x4x!quant.uniform<i8:f32:0, {2.500000e-01,5.000000e-01}>>) -> tensor<2x4xf32>
func.func @dequantize_per_axis(%x: tensor<2x4x!c>) -> tensor<2x4xf32> {
  %result = "qnn.dequantize"(%x) : (tensor<2x4x!c>) -> tensor<2x4xf32>
  return %result : tensor<2x4xf32>
}

// CHECK-LABEL: func.func @dequantize_sub_channel(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<2x4x!quant.uniform<i4:f32:{0:1, 1:2}, {{[{][{]}}5.000000e-01, 2.500000e-01:1}, {1.000000e+00, 2.000000e+00}}>>
// CHECK:         "qnn.dequantize"(%[[X]])
// CHECK-SAME:      : (tensor<2x4x!quant.uniform<i4:f32:{0:1, 1:2}, {{[{][{]}}5.000000e-01, 2.500000e-01:1}, {1.000000e+00, 2.000000e+00}}>>) -> tensor<2x4xf32>
func.func @dequantize_sub_channel(%x: tensor<2x4x!s>) -> tensor<2x4xf32> {
  %result = "qnn.dequantize"(%x) : (tensor<2x4x!s>) -> tensor<2x4xf32>
  return %result : tensor<2x4xf32>
}
