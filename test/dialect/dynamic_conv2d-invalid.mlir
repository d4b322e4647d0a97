// RUN: qopt %s --split-input-file --verify-diagnostics

!q = !quant.uniform<i8:f32, 5.000000e-01:3>
!w = !quant.uniform<i8:f32, 2.500000e-01>
!b = !quant.uniform<i32:f32, 1.250000e-01>
!h = !quant.uniform<i16:f32, 2.500000e-01>
!c = !quant.uniform<i8:f32:0, {2.500000e-01,5.000000e-01}>
!z = !quant.uniform<i8:f32:1, {2.500000e-01,5.000000e-01}>

func.func @dynamic_conv2d_c0_attribute(%x: tensor<1x8x8x2xf32>, %w: tensor<4x1x1x2x!w>) {
  // expected-error@+1 {{'qnn.dynamic_conv2d' op (C0) attribute 'scales_first': got 1 : i64, expected true or false}}
  %result = "qnn.dynamic_conv2d"(%x, %w) {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding = array<i64: 0, 0, 0, 0>, groups = 1 : i64, clamp = array<f32>, asymmetric = true, scales_first = 1 : i64, operandSegmentSizes = array<i32: 1, 1, 0>} : (tensor<1x8x8x2xf32>, tensor<4x1x1x2x!w>) -> tensor<1x8x8x4xf32>
  return
}

// -----

!q = !quant.uniform<i8:f32, 5.000000e-01:3>
!w = !quant.uniform<i8:f32, 2.500000e-01>
!b = !quant.uniform<i32:f32, 1.250000e-01>
!h = !quant.uniform<i16:f32, 2.500000e-01>
!c = !quant.uniform<i8:f32:0, {2.500000e-01,5.000000e-01}>
!z = !quant.uniform<i8:f32:1, {2.500000e-01,5.000000e-01}>

func.func @dynamic_conv2d_c1_rank(%x: tensor<8x8x2xf32>, %w: tensor<4x1x1x2x!w>) {
  // expected-error@+1 {{'qnn.dynamic_conv2d' op (C1) input rank: got 3, expected 4}}
  %result = "qnn.dynamic_conv2d"(%x, %w) {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding = array<i64: 0, 0, 0, 0>, groups = 1 : i64, clamp = array<f32>, asymmetric = true, scales_first = false, operandSegmentSizes = array<i32: 1, 1, 0>} : (tensor<8x8x2xf32>, tensor<4x1x1x2x!w>) -> tensor<1x8x8x4xf32>
  return
}

// -----

!q = !quant.uniform<i8:f32, 5.000000e-01:3>
!w = !quant.uniform<i8:f32, 2.500000e-01>
!b = !quant.uniform<i32:f32, 1.250000e-01>
!h = !quant.uniform<i16:f32, 2.500000e-01>
!c = !quant.uniform<i8:f32:0, {2.500000e-01,5.000000e-01}>
!z = !quant.uniform<i8:f32:1, {2.500000e-01,5.000000e-01}>

func.func @dynamic_conv2d_c2_strides(%x: tensor<1x8x8x2xf32>, %w: tensor<4x1x1x2x!w>) {
  // expected-error@+1 {{'qnn.dynamic_conv2d' op (C2) strides: got [0, 1], expected values of at least 1}}
  %result = "qnn.dynamic_conv2d"(%x, %w) {strides = array<i64: 0, 1>, dilations = array<i64: 1, 1>, padding = array<i64: 0, 0, 0, 0>, groups = 1 : i64, clamp = array<f32>, asymmetric = true, scales_first = false, operandSegmentSizes = array<i32: 1, 1, 0>} : (tensor<1x8x8x2xf32>, tensor<4x1x1x2x!w>) -> tensor<1x8x8x4xf32>
  return
}

// -----

!q = !quant.uniform<i8:f32, 5.000000e-01:3>
!w = !quant.uniform<i8:f32, 2.500000e-01>
!b = !quant.uniform<i32:f32, 1.250000e-01>
!h = !quant.uniform<i16:f32, 2.500000e-01>
!c = !quant.uniform<i8:f32:0, {2.500000e-01,5.000000e-01}>
!z = !quant.uniform<i8:f32:1, {2.500000e-01,5.000000e-01}>

func.func @dynamic_conv2d_c3_channels(%x: tensor<1x8x8x2xf32>, %w: tensor<4x1x1x3x!w>) {
  // expected-error@+1 {{'qnn.dynamic_conv2d' op (C3) input channels: got 2, expected 3 (filter's 3 x 1 groups)}}
  %result = "qnn.dynamic_conv2d"(%x, %w) {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding = array<i64: 0, 0, 0, 0>, groups = 1 : i64, clamp = array<f32>, asymmetric = true, scales_first = false, operandSegmentSizes = array<i32: 1, 1, 0>} : (tensor<1x8x8x2xf32>, tensor<4x1x1x3x!w>) -> tensor<1x8x8x4xf32>
  return
}

// -----

!q = !quant.uniform<i8:f32, 5.000000e-01:3>
!w = !quant.uniform<i8:f32, 2.500000e-01>
!b = !quant.uniform<i32:f32, 1.250000e-01>
!h = !quant.uniform<i16:f32, 2.500000e-01>
!c = !quant.uniform<i8:f32:0, {2.500000e-01,5.000000e-01}>
!z = !quant.uniform<i8:f32:1, {2.500000e-01,5.000000e-01}>

func.func @dynamic_conv2d_c4_shape(%x: tensor<1x8x8x2xf32>, %w: tensor<4x1x1x2x!w>) {
  // expected-error@+1 {{'qnn.dynamic_conv2d' op (C4) result shape: got [1, 8, 7, 4], expected [1, 8, 8, 4]}}
  %result = "qnn.dynamic_conv2d"(%x, %w) {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding = array<i64: 0, 0, 0, 0>, groups = 1 : i64, clamp = array<f32>, asymmetric = true, scales_first = false, operandSegmentSizes = array<i32: 1, 1, 0>} : (tensor<1x8x8x2xf32>, tensor<4x1x1x2x!w>) -> tensor<1x8x7x4xf32>
  return
}

// -----

!q = !quant.uniform<i8:f32, 5.000000e-01:3>
!w = !quant.uniform<i8:f32, 2.500000e-01>
!b = !quant.uniform<i32:f32, 1.250000e-01>
!h = !quant.uniform<i16:f32, 2.500000e-01>
!c = !quant.uniform<i8:f32:0, {2.500000e-01,5.000000e-01}>
!z = !quant.uniform<i8:f32:1, {2.500000e-01,5.000000e-01}>

func.func @dynamic_conv2d_c5_result(%x: tensor<1x8x8x2xf32>, %w: tensor<4x1x1x2x!w>) {
  // expected-error@+1 {{'qnn.dynamic_conv2d' op (C5) result element type: got quantized i8, expected f32}}
  %result = "qnn.dynamic_conv2d"(%x, %w) {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding = array<i64: 0, 0, 0, 0>, groups = 1 : i64, clamp = array<f32>, asymmetric = true, scales_first = false, operandSegmentSizes = array<i32: 1, 1, 0>} : (tensor<1x8x8x2xf32>, tensor<4x1x1x2x!w>) -> tensor<1x8x8x4x!q>
  return
}

// -----

!q = !quant.uniform<i8:f32, 5.000000e-01:3>
!w = !quant.uniform<i8:f32, 2.500000e-01>
!b = !quant.uniform<i32:f32, 1.250000e-01>
!h = !quant.uniform<i16:f32, 2.500000e-01>
!c = !quant.uniform<i8:f32:0, {2.500000e-01,5.000000e-01}>
!z = !quant.uniform<i8:f32:1, {2.500000e-01,5.000000e-01}>

func.func @dynamic_conv2d_c5_filter(%x: tensor<1x8x8x2xf32>, %w: tensor<4x1x1x2x!h>) {
  // expected-error@+1 {{'qnn.dynamic_conv2d' op (C5) filter: got storage type i16, expected i4 or i8}}
  %result = "qnn.dynamic_conv2d"(%x, %w) {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding = array<i64: 0, 0, 0, 0>, groups = 1 : i64, clamp = array<f32>, asymmetric = true, scales_first = false, operandSegmentSizes = array<i32: 1, 1, 0>} : (tensor<1x8x8x2xf32>, tensor<4x1x1x2x!h>) -> tensor<1x8x8x4xf32>
  return
}

// -----

!q = !quant.uniform<i8:f32, 5.000000e-01:3>
!w = !quant.uniform<i8:f32, 2.500000e-01>
!b = !quant.uniform<i32:f32, 1.250000e-01>
!h = !quant.uniform<i16:f32, 2.500000e-01>
!c = !quant.uniform<i8:f32:0, {2.500000e-01,5.000000e-01}>
!z = !quant.uniform<i8:f32:1, {2.500000e-01,5.000000e-01}>

func.func @dynamic_conv2d_c6_bias_shape(%x: tensor<1x8x8x2xf32>, %w: tensor<4x1x1x2x!w>, %b: tensor<3xf32>) {
  // expected-error@+1 {{'qnn.dynamic_conv2d' op (C6) bias shape: got [3], expected [4]}}
  %result = "qnn.dynamic_conv2d"(%x, %w, %b) {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding = array<i64: 0, 0, 0, 0>, groups = 1 : i64, clamp = array<f32>, asymmetric = true, scales_first = false, operandSegmentSizes = array<i32: 1, 1, 1>} : (tensor<1x8x8x2xf32>, tensor<4x1x1x2x!w>, tensor<3xf32>) -> tensor<1x8x8x4xf32>
  return
}

// -----

!q = !quant.uniform<i8:f32, 5.000000e-01:3>
!w = !quant.uniform<i8:f32, 2.500000e-01>
!b = !quant.uniform<i32:f32, 1.250000e-01>
!h = !quant.uniform<i16:f32, 2.500000e-01>
!c = !quant.uniform<i8:f32:0, {2.500000e-01,5.000000e-01}>
!z = !quant.uniform<i8:f32:1, {2.500000e-01,5.000000e-01}>

func.func @dynamic_conv2d_c7_clamp(%x: tensor<1x8x8x2xf32>, %w: tensor<4x1x1x2x!w>) {
  // expected-error@+1 {{'qnn.dynamic_conv2d' op (C7) clamp: got [1.0, -1.0], expected low <= high}}
  %result = "qnn.dynamic_conv2d"(%x, %w) {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding = array<i64: 0, 0, 0, 0>, groups = 1 : i64, clamp = array<f32: 1.0, -1.0>, asymmetric = true, scales_first = false, operandSegmentSizes = array<i32: 1, 1, 0>} : (tensor<1x8x8x2xf32>, tensor<4x1x1x2x!w>) -> tensor<1x8x8x4xf32>
  return
}
