// RUN: qopt %s --split-input-file --verify-diagnostics

!q = !quant.uniform<i8:f32, 5.000000e-01:3>

func.func @conv2d_c0_operand_count(%x: tensor<1x8x8x2x!q>) {
  // expected-error@+1 {{'qnn.conv2d' op (C0) got 1 operands, expected 2 to 3}}
  %result = "qnn.conv2d"(%x) {clamp = array<f32>, dilations = array<i64: 1, 1>, groups = 1 : i64, operandSegmentSizes = array<i32: 1, 0, 0>, padding = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>} : (tensor<1x8x8x2x!q>) -> tensor<1x8x8x4x!q>
  return
}

// -----

!q = !quant.uniform<i8:f32, 5.000000e-01:3>
!w = !quant.uniform<i8:f32, 2.500000e-01>

func.func @conv2d_c0_segments(%x: tensor<1x8x8x2x!q>, %w: tensor<4x1x1x2x!w>) {
  // expected-error@+1 {{'qnn.conv2d' op (C0) attribute 'operandSegmentSizes': got array<i32: 1, 1, 1>, expected array<i32: 1, 1, 0>}}
  %result = "qnn.conv2d"(%x, %w) {clamp = array<f32>, dilations = array<i64: 1, 1>, groups = 1 : i64, operandSegmentSizes = array<i32: 1, 1, 1>, padding = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>} : (tensor<1x8x8x2x!q>, tensor<4x1x1x2x!w>) -> tensor<1x8x8x4x!q>
  return
}

// -----

!q = !quant.uniform<i8:f32, 5.000000e-01:3>
!w = !quant.uniform<i8:f32, 2.500000e-01>

func.func @conv2d_c0_no_segments(%x: tensor<1x8x8x2x!q>, %w: tensor<4x1x1x2x!w>) {
  // expected-error@+1 {{'qnn.conv2d' op (C0) attribute 'operandSegmentSizes' is missing, expected array<i32: 1, 1, 0>}}
  %result = "qnn.conv2d"(%x, %w) {clamp = array<f32>, dilations = array<i64: 1, 1>, groups = 1 : i64, padding = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>} : (tensor<1x8x8x2x!q>, tensor<4x1x1x2x!w>) -> tensor<1x8x8x4x!q>
  return
}

// -----

!q = !quant.uniform<i8:f32, 5.000000e-01:3>
!w = !quant.uniform<i8:f32, 2.500000e-01>

func.func @conv2d_c0_missing_attribute(%x: tensor<1x8x8x2x!q>, %w: tensor<4x1x1x2x!w>) {
  // expected-error@+1 {{'qnn.conv2d' op (C0) attribute 'groups' is missing}}
  %result = "qnn.conv2d"(%x, %w) {clamp = array<f32>, dilations = array<i64: 1, 1>, operandSegmentSizes = array<i32: 1, 1, 0>, padding = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>} : (tensor<1x8x8x2x!q>, tensor<4x1x1x2x!w>) -> tensor<1x8x8x4x!q>
  return
}

// -----

!q = !quant.uniform<i8:f32, 5.000000e-01:3>
!w = !quant.uniform<i8:f32, 2.500000e-01>

func.func @conv2d_c0_attribute_kind(%x: tensor<1x8x8x2x!q>, %w: tensor<4x1x1x2x!w>) {
  // expected-error@+1 {{'qnn.conv2d' op (C0) attribute 'groups': got 1 : i32, expected i64}}
  %result = "qnn.conv2d"(%x, %w) {clamp = array<f32>, dilations = array<i64: 1, 1>, groups = 1 : i32, operandSegmentSizes = array<i32: 1, 1, 0>, padding = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>} : (tensor<1x8x8x2x!q>, tensor<4x1x1x2x!w>) -> tensor<1x8x8x4x!q>
  return
}

// -----

!q = !quant.uniform<i8:f32, 5.000000e-01:3>
!w = !quant.uniform<i8:f32, 2.500000e-01>

func.func @conv2d_c1_rank(%x: tensor<8x8x2x!q>, %w: tensor<4x1x1x2x!w>) {
  // expected-error@+1 {{'qnn.conv2d' op (C1) input rank: got 3, expected 4}}
  %result = "qnn.conv2d"(%x, %w) {clamp = array<f32>, dilations = array<i64: 1, 1>, groups = 1 : i64, operandSegmentSizes = array<i32: 1, 1, 0>, padding = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>} : (tensor<8x8x2x!q>, tensor<4x1x1x2x!w>) -> tensor<1x8x8x4x!q>
  return
}

// -----

!q = !quant.uniform<i8:f32, 5.000000e-01:3>
!w = !quant.uniform<i8:f32, 2.500000e-01>

func.func @conv2d_c2_stride_count(%x: tensor<1x8x8x2x!q>, %w: tensor<4x1x1x2x!w>) {
  // expected-error@+1 {{'qnn.conv2d' op (C2) strides: got 1 values, expected 2}}
  %result = "qnn.conv2d"(%x, %w) {clamp = array<f32>, dilations = array<i64: 1, 1>, groups = 1 : i64, operandSegmentSizes = array<i32: 1, 1, 0>, padding = array<i64: 0, 0, 0, 0>, strides = array<i64: 1>} : (tensor<1x8x8x2x!q>, tensor<4x1x1x2x!w>) -> tensor<1x8x8x4x!q>
  return
}

// -----

!q = !quant.uniform<i8:f32, 5.000000e-01:3>
!w = !quant.uniform<i8:f32, 2.500000e-01>

func.func @conv2d_c2_zero_stride(%x: tensor<1x8x8x2x!q>, %w: tensor<4x1x1x2x!w>) {
  // expected-error@+1 {{'qnn.conv2d' op (C2) strides: got [1, 0], expected values of at least 1}}
  %result = "qnn.conv2d"(%x, %w) {clamp = array<f32>, dilations = array<i64: 1, 1>, groups = 1 : i64, operandSegmentSizes = array<i32: 1, 1, 0>, padding = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 0>} : (tensor<1x8x8x2x!q>, tensor<4x1x1x2x!w>) -> tensor<1x8x8x4x!q>
  return
}

// -----

!q = !quant.uniform<i8:f32, 5.000000e-01:3>
!w = !quant.uniform<i8:f32, 2.500000e-01>

func.func @conv2d_c2_dilation(%x: tensor<1x8x8x2x!q>, %w: tensor<4x1x1x2x!w>) {
  // expected-error@+1 {{'qnn.conv2d' op (C2) dilations: got [-1, 1], expected values of at least 1}}
  %result = "qnn.conv2d"(%x, %w) {clamp = array<f32>, dilations = array<i64: -1, 1>, groups = 1 : i64, operandSegmentSizes = array<i32: 1, 1, 0>, padding = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>} : (tensor<1x8x8x2x!q>, tensor<4x1x1x2x!w>) -> tensor<1x8x8x4x!q>
  return
}

// -----

!q = !quant.uniform<i8:f32, 5.000000e-01:3>
!w = !quant.uniform<i8:f32, 2.500000e-01>

func.func @conv2d_c2_padding(%x: tensor<1x8x8x2x!q>, %w: tensor<4x1x1x2x!w>) {
  // expected-error@+1 {{'qnn.conv2d' op (C2) padding: got [0, 0, 0, -1], expected values of at least 0}}
  %result = "qnn.conv2d"(%x, %w) {clamp = array<f32>, dilations = array<i64: 1, 1>, groups = 1 : i64, operandSegmentSizes = array<i32: 1, 1, 0>, padding = array<i64: 0, 0, 0, -1>, strides = array<i64: 1, 1>} : (tensor<1x8x8x2x!q>, tensor<4x1x1x2x!w>) -> tensor<1x8x8x4x!q>
  return
}

// -----

!q = !quant.uniform<i8:f32, 5.000000e-01:3>
!w = !quant.uniform<i8:f32, 2.500000e-01>

func.func @conv2d_c2_groups(%x: tensor<1x8x8x2x!q>, %w: tensor<4x1x1x2x!w>) {
  // expected-error@+1 {{'qnn.conv2d' op (C2) groups: got [0], expected values of at least 1}}
  %result = "qnn.conv2d"(%x, %w) {clamp = array<f32>, dilations = array<i64: 1, 1>, groups = 0 : i64, operandSegmentSizes = array<i32: 1, 1, 0>, padding = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>} : (tensor<1x8x8x2x!q>, tensor<4x1x1x2x!w>) -> tensor<1x8x8x4x!q>
  return
}

// -----

!q = !quant.uniform<i8:f32, 5.000000e-01:3>
!w = !quant.uniform<i8:f32, 2.500000e-01>

func.func @conv2d_c3_channels(%x: tensor<1x8x8x2x!q>, %w: tensor<4x1x1x3x!w>) {
  // expected-error@+1 {{'qnn.conv2d' op (C3) input channels: got 2, expected 3 (filter's 3 x 1 groups)}}
  %result = "qnn.conv2d"(%x, %w) {clamp = array<f32>, dilations = array<i64: 1, 1>, groups = 1 : i64, operandSegmentSizes = array<i32: 1, 1, 0>, padding = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>} : (tensor<1x8x8x2x!q>, tensor<4x1x1x3x!w>) -> tensor<1x8x8x4x!q>
  return
}

// -----

!q = !quant.uniform<i8:f32, 5.000000e-01:3>
!w = !quant.uniform<i8:f32, 2.500000e-01>

func.func @conv2d_c3_groups(%x: tensor<1x8x8x2x!q>, %w: tensor<3x1x1x1x!w>) {
  // expected-error@+1 {{'qnn.conv2d' op (C3) 3 output channels do not divide into 2 groups}}
  %result = "qnn.conv2d"(%x, %w) {clamp = array<f32>, dilations = array<i64: 1, 1>, groups = 2 : i64, operandSegmentSizes = array<i32: 1, 1, 0>, padding = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>} : (tensor<1x8x8x2x!q>, tensor<3x1x1x1x!w>) -> tensor<1x8x8x3x!q>
  return
}

// -----

!q = !quant.uniform<i8:f32, 5.000000e-01:3>
!w = !quant.uniform<i8:f32, 2.500000e-01>

func.func @conv2d_c4_result_shape(%x: tensor<1x8x8x2x!q>, %w: tensor<4x1x1x2x!w>) {
  // expected-error@+1 {{'qnn.conv2d' op (C4) result shape: got [1, 8, 7, 4], expected [1, 8, 8, 4]}}
  %result = "qnn.conv2d"(%x, %w) {clamp = array<f32>, dilations = array<i64: 1, 1>, groups = 1 : i64, operandSegmentSizes = array<i32: 1, 1, 0>, padding = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>} : (tensor<1x8x8x2x!q>, tensor<4x1x1x2x!w>) -> tensor<1x8x7x4x!q>
  return
}

// -----

!q = !quant.uniform<i8:f32, 5.000000e-01:3>
!w = !quant.uniform<i8:f32, 2.500000e-01>

func.func @conv2d_c4_kernel_too_large(%x: tensor<1x8x8x2x!q>, %w: tensor<4x3x3x2x!w>) {
  // expected-error@+1 {{'qnn.conv2d' op (C4) a window of [3, 3] does not fit into the padded input of [8, 8]}}
  %result = "qnn.conv2d"(%x, %w) {clamp = array<f32>, dilations = array<i64: 4, 4>, groups = 1 : i64, operandSegmentSizes = array<i32: 1, 1, 0>, padding = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>} : (tensor<1x8x8x2x!q>, tensor<4x3x3x2x!w>) -> tensor<1x1x1x4x!q>
  return
}

// -----

!q = !quant.uniform<i8:f32, 5.000000e-01:3>
!w = !quant.uniform<i8:f32, 2.500000e-01>

func.func @conv2d_c4_huge_padding(%x: tensor<1x8x8x2x!q>, %w: tensor<4x1x1x2x!w>) {
  // expected-error@+1 {{'qnn.conv2d' op (C4) result shape: got [1, 8, 8, 4], expected [1, 9223372036854775815, 8, 4]}}
  %result = "qnn.conv2d"(%x, %w) {clamp = array<f32>, dilations = array<i64: 1, 1>, groups = 1 : i64, operandSegmentSizes = array<i32: 1, 1, 0>, padding = array<i64: 9223372036854775807, 0, 0, 0>, strides = array<i64: 1, 1>} : (tensor<1x8x8x2x!q>, tensor<4x1x1x2x!w>) -> tensor<1x8x8x4x!q>
  return
}

// -----

!w = !quant.uniform<i8:f32, 2.500000e-01>
!q = !quant.uniform<i8:f32, 5.000000e-01:3>

func.func @conv2d_c5_mixed(%x: tensor<1x8x8x2xf32>, %w: tensor<4x1x1x2x!w>) {
  // expected-error@+1 {{'qnn.conv2d' op (C5) input, filter and result must be all f32 or all quantized, got input f32, filter quantized i8, result quantized i8}}
  %result = "qnn.conv2d"(%x, %w) {clamp = array<f32>, dilations = array<i64: 1, 1>, groups = 1 : i64, operandSegmentSizes = array<i32: 1, 1, 0>, padding = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>} : (tensor<1x8x8x2xf32>, tensor<4x1x1x2x!w>) -> tensor<1x8x8x4x!q>
  return
}

// -----

func.func @conv2d_c5_plain_integers(%x: tensor<1x8x8x2xi8>, %w: tensor<4x1x1x2xi8>) {
  // expected-error@+1 {{'qnn.conv2d' op (C5) input, filter and result must be all f32 or all quantized, got input i8, filter i8, result i8}}
  %result = "qnn.conv2d"(%x, %w) {clamp = array<f32>, dilations = array<i64: 1, 1>, groups = 1 : i64, operandSegmentSizes = array<i32: 1, 1, 0>, padding = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>} : (tensor<1x8x8x2xi8>, tensor<4x1x1x2xi8>) -> tensor<1x8x8x4xi8>
  return
}

// -----

!c = !quant.uniform<i8:f32:0, {2.500000e-01,5.000000e-01}>
!w = !quant.uniform<i8:f32, 2.500000e-01>
!q = !quant.uniform<i8:f32, 5.000000e-01:3>

func.func @conv2d_c5_per_axis_input(%x: tensor<2x8x8x2x!c>, %w: tensor<4x1x1x2x!w>) {
  // expected-error@+1 {{'qnn.conv2d' op (C5) input must be quantized per-tensor, got quantized i8 per-axis 0}}
  %result = "qnn.conv2d"(%x, %w) {clamp = array<f32>, dilations = array<i64: 1, 1>, groups = 1 : i64, operandSegmentSizes = array<i32: 1, 1, 0>, padding = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>} : (tensor<2x8x8x2x!c>, tensor<4x1x1x2x!w>) -> tensor<2x8x8x4x!q>
  return
}

// -----

!q = !quant.uniform<i8:f32, 5.000000e-01:3>
!h = !quant.uniform<i16:f32, 7.812500e-03>

func.func @conv2d_c5_filter_storage(%x: tensor<1x8x8x2x!q>, %w: tensor<4x1x1x2x!h>) {
  // expected-error@+1 {{'qnn.conv2d' op (C5) filter: got storage type i16, expected i4, u4, i8 or u8}}
  %result = "qnn.conv2d"(%x, %w) {clamp = array<f32>, dilations = array<i64: 1, 1>, groups = 1 : i64, operandSegmentSizes = array<i32: 1, 1, 0>, padding = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>} : (tensor<1x8x8x2x!q>, tensor<4x1x1x2x!h>) -> tensor<1x8x8x4x!q>
  return
}

// -----

!q = !quant.uniform<i8:f32, 5.000000e-01:3>
!x1 = !quant.uniform<i8:f32:1, {2.500000e-01,5.000000e-01}>

func.func @conv2d_c5_filter_axis(%x: tensor<1x8x8x2x!q>, %w: tensor<4x2x1x2x!x1>) {
  // expected-error@+1 {{'qnn.conv2d' op (C5) filter must be quantized per-tensor or per-axis 0 (output channel), got quantized i8 per-axis 1}}
  %result = "qnn.conv2d"(%x, %w) {clamp = array<f32>, dilations = array<i64: 1, 1>, groups = 1 : i64, operandSegmentSizes = array<i32: 1, 1, 0>, padding = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>} : (tensor<1x8x8x2x!q>, tensor<4x2x1x2x!x1>) -> tensor<1x7x8x4x!q>
  return
}

// -----

!q = !quant.uniform<i8:f32, 5.000000e-01:3>
!z = !quant.uniform<i8:f32:0, {2.500000e-01:1,5.000000e-01}>

func.func @conv2d_c5_filter_zero_point(%x: tensor<1x8x8x2x!q>, %w: tensor<2x1x1x2x!z>) {
  // expected-error@+1 {{'qnn.conv2d' op (C5) zero points of a signed per-axis filter must be 0, got [1, 0]}}
  %result = "qnn.conv2d"(%x, %w) {clamp = array<f32>, dilations = array<i64: 1, 1>, groups = 1 : i64, operandSegmentSizes = array<i32: 1, 1, 0>, padding = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>} : (tensor<1x8x8x2x!q>, tensor<2x1x1x2x!z>) -> tensor<1x8x8x2x!q>
  return
}

// -----

!q = !quant.uniform<i8:f32, 5.000000e-01:3>
!w = !quant.uniform<i8:f32, 2.500000e-01>
!b = !quant.uniform<i32:f32, 1.250000e-01>

func.func @conv2d_c6_bias_shape(%x: tensor<1x8x8x2x!q>, %w: tensor<4x1x1x2x!w>, %b: tensor<3x!b>) {
  // expected-error@+1 {{'qnn.conv2d' op (C6) bias shape: got [3], expected [4]}}
  %result = "qnn.conv2d"(%x, %w, %b) {clamp = array<f32>, dilations = array<i64: 1, 1>, groups = 1 : i64, operandSegmentSizes = array<i32: 1, 1, 1>, padding = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>} : (tensor<1x8x8x2x!q>, tensor<4x1x1x2x!w>, tensor<3x!b>) -> tensor<1x8x8x4x!q>
  return
}

// -----

!q = !quant.uniform<i8:f32, 5.000000e-01:3>
!w = !quant.uniform<i8:f32, 2.500000e-01>

func.func @conv2d_c6_bias_type(%x: tensor<1x8x8x2x!q>, %w: tensor<4x1x1x2x!w>, %b: tensor<4xi32>) {
  // expected-error@+1 {{'qnn.conv2d' op (C6) bias element type: got i32, expected quantized i32}}
  %result = "qnn.conv2d"(%x, %w, %b) {clamp = array<f32>, dilations = array<i64: 1, 1>, groups = 1 : i64, operandSegmentSizes = array<i32: 1, 1, 1>, padding = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>} : (tensor<1x8x8x2x!q>, tensor<4x1x1x2x!w>, tensor<4xi32>) -> tensor<1x8x8x4x!q>
  return
}

// -----

!b = !quant.uniform<i32:f32, 1.250000e-01>

func.func @conv2d_c6_float_bias_type(%x: tensor<1x8x8x2xf32>, %w: tensor<4x1x1x2xf32>, %b: tensor<4x!b>) {
  // expected-error@+1 {{'qnn.conv2d' op (C6) bias element type: got quantized i32, expected f32}}
  %result = "qnn.conv2d"(%x, %w, %b) {clamp = array<f32>, dilations = array<i64: 1, 1>, groups = 1 : i64, operandSegmentSizes = array<i32: 1, 1, 1>, padding = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>} : (tensor<1x8x8x2xf32>, tensor<4x1x1x2xf32>, tensor<4x!b>) -> tensor<1x8x8x4xf32>
  return
}

// -----

!q = !quant.uniform<i8:f32, 5.000000e-01:3>
!w = !quant.uniform<i8:f32, 2.500000e-01>
!bs = !quant.uniform<i32:f32, 2.500000e-01>

func.func @conv2d_c6_bias_scale(%x: tensor<1x8x8x2x!q>, %w: tensor<4x1x1x2x!w>, %b: tensor<4x!bs>) {
  // expected-error@+1 {{'qnn.conv2d' op (C6) bias scale: got 0.25, expected 0.125 (input scale x filter scale)}}
  %result = "qnn.conv2d"(%x, %w, %b) {clamp = array<f32>, dilations = array<i64: 1, 1>, groups = 1 : i64, operandSegmentSizes = array<i32: 1, 1, 1>, padding = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>} : (tensor<1x8x8x2x!q>, tensor<4x1x1x2x!w>, tensor<4x!bs>) -> tensor<1x8x8x4x!q>
  return
}

// -----

!q = !quant.uniform<i8:f32, 5.000000e-01:3>
!c = !quant.uniform<i8:f32:0, {2.500000e-01,5.000000e-01}>
!bcs = !quant.uniform<i32:f32:0, {1.250000e-01,3.000000e-01}>

func.func @conv2d_c6_bias_channel_scale(%x: tensor<1x8x8x2x!q>, %w: tensor<2x1x1x2x!c>, %b: tensor<2x!bcs>) {
  // expected-error@+1 {{'qnn.conv2d' op (C6) bias scale of channel 1: got 0.3, expected 0.25 (input scale x filter scale)}}
  %result = "qnn.conv2d"(%x, %w, %b) {clamp = array<f32>, dilations = array<i64: 1, 1>, groups = 1 : i64, operandSegmentSizes = array<i32: 1, 1, 1>, padding = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>} : (tensor<1x8x8x2x!q>, tensor<2x1x1x2x!c>, tensor<2x!bcs>) -> tensor<1x8x8x2x!q>
  return
}

// -----

!q = !quant.uniform<i8:f32, 5.000000e-01:3>
!w = !quant.uniform<i8:f32, 2.500000e-01>
!bz = !quant.uniform<i32:f32, 1.250000e-01:1>

func.func @conv2d_c6_bias_zero_point(%x: tensor<1x8x8x2x!q>, %w: tensor<4x1x1x2x!w>, %b: tensor<4x!bz>) {
  // expected-error@+1 {{'qnn.conv2d' op (C6) bias zero point must be 0, got 1}}
  %result = "qnn.conv2d"(%x, %w, %b) {clamp = array<f32>, dilations = array<i64: 1, 1>, groups = 1 : i64, operandSegmentSizes = array<i32: 1, 1, 1>, padding = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>} : (tensor<1x8x8x2x!q>, tensor<4x1x1x2x!w>, tensor<4x!bz>) -> tensor<1x8x8x4x!q>
  return
}

// -----

!q = !quant.uniform<i8:f32, 5.000000e-01:3>
!w = !quant.uniform<i8:f32, 2.500000e-01>
!bc = !quant.uniform<i32:f32:0, {1.250000e-01,2.500000e-01}>

func.func @conv2d_c6_bias_scale_count(%x: tensor<1x8x8x2x!q>, %w: tensor<2x1x1x2x!w>, %b: tensor<2x!bc>) {
  // expected-error@+1 {{'qnn.conv2d' op (C6) bias scales: got 2, expected 1 (one per filter scale)}}
  %result = "qnn.conv2d"(%x, %w, %b) {clamp = array<f32>, dilations = array<i64: 1, 1>, groups = 1 : i64, operandSegmentSizes = array<i32: 1, 1, 1>, padding = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>} : (tensor<1x8x8x2x!q>, tensor<2x1x1x2x!w>, tensor<2x!bc>) -> tensor<1x8x8x2x!q>
  return
}

// -----

!q = !quant.uniform<i8:f32, 5.000000e-01:3>
!w = !quant.uniform<i8:f32, 2.500000e-01>

func.func @conv2d_c7_clamp_order(%x: tensor<1x8x8x2x!q>, %w: tensor<4x1x1x2x!w>) {
  // expected-error@+1 {{'qnn.conv2d' op (C7) clamp: got [6.0, 0.0], expected low <= high}}
  %result = "qnn.conv2d"(%x, %w) {clamp = array<f32: 6.000000e+00, 0.000000e+00>, dilations = array<i64: 1, 1>, groups = 1 : i64, operandSegmentSizes = array<i32: 1, 1, 0>, padding = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>} : (tensor<1x8x8x2x!q>, tensor<4x1x1x2x!w>) -> tensor<1x8x8x4x!q>
  return
}

// -----

!q = !quant.uniform<i8:f32, 5.000000e-01:3>
!w = !quant.uniform<i8:f32, 2.500000e-01>

func.func @conv2d_c7_clamp_nan(%x: tensor<1x8x8x2x!q>, %w: tensor<4x1x1x2x!w>) {
  // expected-error@+1 {{'qnn.conv2d' op (C7) clamp: got [nan, 1.0], expected low <= high}}
  %result = "qnn.conv2d"(%x, %w) {clamp = array<f32: 0x7FC00000, 1.000000e+00>, dilations = array<i64: 1, 1>, groups = 1 : i64, operandSegmentSizes = array<i32: 1, 1, 0>, padding = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>} : (tensor<1x8x8x2x!q>, tensor<4x1x1x2x!w>) -> tensor<1x8x8x4x!q>
  return
}

// -----

!q = !quant.uniform<i8:f32, 5.000000e-01:3>
!w = !quant.uniform<i8:f32, 2.500000e-01>

func.func @conv2d_c7_clamp_count(%x: tensor<1x8x8x2x!q>, %w: tensor<4x1x1x2x!w>) {
  // expected-error@+1 {{'qnn.conv2d' op (C7) clamp: got 1 values, expected none or low and high}}
  %result = "qnn.conv2d"(%x, %w) {clamp = array<f32: 0.000000e+00>, dilations = array<i64: 1, 1>, groups = 1 : i64, operandSegmentSizes = array<i32: 1, 1, 0>, padding = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>} : (tensor<1x8x8x2x!q>, tensor<4x1x1x2x!w>) -> tensor<1x8x8x4x!q>
  return
}
