// RUN: qopt %s --split-input-file --verify-diagnostics

!q = !quant.uniform<i8:f32, 5.000000e-01:3>

func.func @resize_bilinear_c0_missing_attribute(%x: tensor<1x8x8x2x!q>) {
  // expected-error@+1 {{'qnn.resize_bilinear' op (C0) attribute 'half_pixel_centers' is missing}}
  %result = "qnn.resize_bilinear"(%x) {align_corners = false} : (tensor<1x8x8x2x!q>) -> tensor<1x16x16x2x!q>
  return
}

// -----

!q = !quant.uniform<i8:f32, 5.000000e-01:3>

func.func @resize_bilinear_c0_attribute_kind(%x: tensor<1x8x8x2x!q>) {
  // expected-error@+1 {{'qnn.resize_bilinear' op (C0) attribute 'align_corners': got 1 : i64, expected true or false}}
  %result = "qnn.resize_bilinear"(%x) {align_corners = 1 : i64, half_pixel_centers = false} : (tensor<1x8x8x2x!q>) -> tensor<1x16x16x2x!q>
  return
}

// -----

!q = !quant.uniform<i8:f32, 5.000000e-01:3>

func.func @resize_bilinear_c1_rank(%x: tensor<1x8x8x2x!q>) {
  // expected-error@+1 {{'qnn.resize_bilinear' op (C1) result rank: got 2, expected 4}}
  %result = "qnn.resize_bilinear"(%x) {align_corners = false, half_pixel_centers = true} : (tensor<1x8x8x2x!q>) -> tensor<16x16x!q>
  return
}

// -----

!q = !quant.uniform<i8:f32, 5.000000e-01:3>

func.func @resize_bilinear_c2_batch(%x: tensor<1x8x8x2x!q>) {
  // expected-error@+1 {{'qnn.resize_bilinear' op (C2) batch: got 2, expected 1 as in the input}}
  %result = "qnn.resize_bilinear"(%x) {align_corners = false, half_pixel_centers = true} : (tensor<1x8x8x2x!q>) -> tensor<2x16x16x2x!q>
  return
}

// -----

!q = !quant.uniform<i8:f32, 5.000000e-01:3>

func.func @resize_bilinear_c2_channels(%x: tensor<1x8x8x2x!q>) {
  // expected-error@+1 {{'qnn.resize_bilinear' op (C2) channels: got 3, expected 2 as in the input}}
  %result = "qnn.resize_bilinear"(%x) {align_corners = false, half_pixel_centers = true} : (tensor<1x8x8x2x!q>) -> tensor<1x16x16x3x!q>
  return
}

// -----

!q = !quant.uniform<i8:f32, 5.000000e-01:3>

func.func @resize_bilinear_c2_empty(%x: tensor<1x8x8x2x!q>) {
  // expected-error@+1 {{'qnn.resize_bilinear' op (C2) result height and width: got [0, 16], expected at least 1}}
  %result = "qnn.resize_bilinear"(%x) {align_corners = false, half_pixel_centers = true} : (tensor<1x8x8x2x!q>) -> tensor<1x0x16x2x!q>
  return
}

// -----

!q = !quant.uniform<i8:f32, 5.000000e-01:3>

func.func @resize_bilinear_c3_both(%x: tensor<1x8x8x2x!q>) {
  // expected-error@+1 {{'qnn.resize_bilinear' op (C3) align_corners and half_pixel_centers exclude each other, got both}}
  %result = "qnn.resize_bilinear"(%x) {align_corners = true, half_pixel_centers = true} : (tensor<1x8x8x2x!q>) -> tensor<1x16x16x2x!q>
  return
}

// -----

!q = !quant.uniform<i8:f32, 5.000000e-01:3>

func.func @resize_bilinear_c4_mixed(%x: tensor<1x8x8x2x!q>) {
  // expected-error@+1 {{'qnn.resize_bilinear' op (C4) input and result must be all f32 or all quantized, got input quantized i8, result f32}}
  %result = "qnn.resize_bilinear"(%x) {align_corners = false, half_pixel_centers = true} : (tensor<1x8x8x2x!q>) -> tensor<1x16x16x2xf32>
  return
}
