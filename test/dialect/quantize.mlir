// RUN: qopt %s | qopt | %filecheck

!q = !quant.uniform<i8:f32, 5.000000e-01:3>
!n = !quant.uniform<i8<-100:100>:f32, 5.000000e-01:3>
!c = !quant.uniform<i8:f32:0, {2.500000e-01,5.000000e-01}>

// CHECK-LABEL: func.func @quantize_int8(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<2x4xf32>
// CHECK:         "qnn.quantize"(%[[X]])
// CHECK-SAME:      : (tensor<2x4xf32>) -> tensor<2x4x!quant.uniform<i8:f32, 5.000000e-01:3>>
func.func @quantize_int8(%x: tensor<2x4xf32>) -> tensor<2x4x!q> {
  %result = "qnn.quantize"(%x) : (tensor<2x4xf32>) -> tensor<2x4x!q>
  return %result : tensor<2x4x!q>
}

// CHECK-LABEL: func.func @quantize_bounds(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<?xf32>
// CHECK:         "qnn.quantize"(%[[X]])
// CHECK-SAME:      : (tensor<?xf32>) -> tensor<?x!quant.uniform<i8<-100:100>:f32, 5.000000e-01:3>>
func.func @quantize_bounds(%x: tensor<?xf32>) -> tensor<?x!n> {
  %result = "qnn.quantize"(%x) : (tensor<?xf32>) -> tensor<?x!n>
  return %result : tensor<?x!n>
}

// CHECK-LABEL: func.func @quantize_per_axis(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<2x4xf32>
// CHECK:         "qnn.quantize"(%[[X]])
// CHECK-SAME:      : (tensor<2x4xf32>) -> tensor<2x4x!quant.uniform<i8:f32:0, {2.500000e-01,5.000000e-01}>>
func.func @quantize_per_axis(%x: tensor<2x4xf32>) -> tensor<2x4x!c> {
  %result = "qnn.quantize"(%x) : (tensor<2x4xf32>) -> tensor<2x4x!c>
  return %result : tensor<2x4x!c>
}
