// RUN: qopt %s | qopt | %filecheck

!q = !quant.uniform<i8:f32, 5.000000e-01:3>
!u = !quant.uniform<u8:f32, 5.000000e-01:128>

// CHECK-LABEL: func.func @resize_nearest_int8(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<1x8x8x2x!quant.uniform<i8:f32, 5.000000e-01:3>>
// CHECK:         "qnn.resize_nearest"(%[[X]]) {align_corners = false, half_pixel_centers = true}
// CHECK-SAME:      : (tensor<1x8x8x2x!quant.uniform<i8:f32, 5.000000e-01:3>>) -> tensor<1x16x5x2x!quant.uniform<i8:f32, 5.000000e-01:3>>
func.func @resize_nearest_int8(%x: tensor<1x8x8x2x!q>) -> tensor<1x16x5x2x!q> {
  %result = "qnn.resize_nearest"(%x) {align_corners = false, half_pixel_centers = true} : (tensor<1x8x8x2x!q>) -> tensor<1x16x5x2x!q>
  return %result : tensor<1x16x5x2x!q>
}

// CHECK-LABEL: func.func @resize_nearest_requantizes(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<1x8x8x2x!quant.uniform<u8:f32, 5.000000e-01:128>>
// CHECK:         "qnn.resize_nearest"(%[[X]]) {align_corners = true, half_pixel_centers = false}
// CHECK-SAME:      : (tensor<1x8x8x2x!quant.uniform<u8:f32, 5.000000e-01:128>>) -> tensor<1x16x16x2x!quant.uniform<i8:f32, 5.000000e-01:3>>
func.func @resize_nearest_requantizes(%x: tensor<1x8x8x2x!u>) -> tensor<1x16x16x2x!q> {
  %result = "qnn.resize_nearest"(%x) {align_corners = true, half_pixel_centers = false} : (tensor<1x8x8x2x!u>) -> tensor<1x16x16x2x!q>
  return %result : tensor<1x16x16x2x!q>
}

// CHECK-LABEL: func.func @resize_nearest_float(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<?x8x8x2xf32>
// CHECK:         "qnn.resize_nearest"(%[[X]]) {align_corners = false, half_pixel_centers = true}
// CHECK-SAME:      : (tensor<?x8x8x2xf32>) -> tensor<?x3x3x2xf32>
func.func @resize_nearest_float(%x: tensor<?x8x8x2xf32>) -> tensor<?x3x3x2xf32> {
  %result = "qnn.resize_nearest"(%x) {align_corners = false, half_pixel_centers = true} : (tensor<?x8x8x2xf32>) -> tensor<?x3x3x2xf32>
  return %result : tensor<?x3x3x2xf32>
}
