// RUN: qopt %s --split-input-file --verify-diagnostics

!q = !quant.uniform<i8:f32, 5.000000e-01:3>
!w = !quant.uniform<i8:f32, 2.500000e-01>
!b = !quant.uniform<i32:f32, 1.250000e-01>
!h = !quant.uniform<i16:f32, 2.500000e-01>
!c = !quant.uniform<i8:f32:0, {2.500000e-01,5.000000e-01}>
!z = !quant.uniform<i8:f32:1, {2.500000e-01,5.000000e-01}>

func.func @dynamic_fully_connected_c0_attribute(%x: tensor<3x8xf32>, %w: tensor<4x8x!w>) {
  // expected-error@+1 {{'qnn.dynamic_fully_connected' op (C0) attribute 'asymmetric': got 1 : i64, expected true or false}}
  %result = "qnn.dynamic_fully_connected"(%x, %w) {clamp = array<f32>, asymmetric = 1 : i64, operandSegmentSizes = array<i32: 1, 1, 0>} : (tensor<3x8xf32>, tensor<4x8x!w>) -> tensor<3x4xf32>
  return
}

// -----

!q = !quant.uniform<i8:f32, 5.000000e-01:3>
!w = !quant.uniform<i8:f32, 2.500000e-01>
!b = !quant.uniform<i32:f32, 1.250000e-01>
!h = !quant.uniform<i16:f32, 2.500000e-01>
!c = !quant.uniform<i8:f32:0, {2.500000e-01,5.000000e-01}>
!z = !quant.uniform<i8:f32:1, {2.500000e-01,5.000000e-01}>

func.func @dynamic_fully_connected_c1_rank(%x: tensor<3x8xf32>, %w: tensor<1x4x8x!w>) {
  // expected-error@+1 {{'qnn.dynamic_fully_connected' op (C1) filter rank: got 3, expected 2}}
  %result = "qnn.dynamic_fully_connected"(%x, %w) {clamp = array<f32>, asymmetric = false, operandSegmentSizes = array<i32: 1, 1, 0>} : (tensor<3x8xf32>, tensor<1x4x8x!w>) -> tensor<3x4xf32>
  return
}

// -----

!q = !quant.uniform<i8:f32, 5.000000e-01:3>
!w = !quant.uniform<i8:f32, 2.500000e-01>
!b = !quant.uniform<i32:f32, 1.250000e-01>
!h = !quant.uniform<i16:f32, 2.500000e-01>
!c = !quant.uniform<i8:f32:0, {2.500000e-01,5.000000e-01}>
!z = !quant.uniform<i8:f32:1, {2.500000e-01,5.000000e-01}>

func.func @dynamic_fully_connected_c1_scalar(%x: tensor<f32>, %w: tensor<4x8x!w>) {
  // expected-error@+1 {{'qnn.dynamic_fully_connected' op (C1) input rank: got 0, expected at least 1}}
  %result = "qnn.dynamic_fully_connected"(%x, %w) {clamp = array<f32>, asymmetric = false, operandSegmentSizes = array<i32: 1, 1, 0>} : (tensor<f32>, tensor<4x8x!w>) -> tensor<4xf32>
  return
}

// -----

!q = !quant.uniform<i8:f32, 5.000000e-01:3>
!w = !quant.uniform<i8:f32, 2.500000e-01>
!b = !quant.uniform<i32:f32, 1.250000e-01>
!h = !quant.uniform<i16:f32, 2.500000e-01>
!c = !quant.uniform<i8:f32:0, {2.500000e-01,5.000000e-01}>
!z = !quant.uniform<i8:f32:1, {2.500000e-01,5.000000e-01}>

func.func @dynamic_fully_connected_c2_depth(%x: tensor<3x7xf32>, %w: tensor<4x8x!w>) {
  // expected-error@+1 {{'qnn.dynamic_fully_connected' op (C2) input has 7 features, the filter 8}}
  %result = "qnn.dynamic_fully_connected"(%x, %w) {clamp = array<f32>, asymmetric = false, operandSegmentSizes = array<i32: 1, 1, 0>} : (tensor<3x7xf32>, tensor<4x8x!w>) -> tensor<3x4xf32>
  return
}

// -----

!q = !quant.uniform<i8:f32, 5.000000e-01:3>
!w = !quant.uniform<i8:f32, 2.500000e-01>
!b = !quant.uniform<i32:f32, 1.250000e-01>
!h = !quant.uniform<i16:f32, 2.500000e-01>
!c = !quant.uniform<i8:f32:0, {2.500000e-01,5.000000e-01}>
!z = !quant.uniform<i8:f32:1, {2.500000e-01,5.000000e-01}>

func.func @dynamic_fully_connected_c3_input(%x: tensor<3x8x!q>, %w: tensor<4x8x!w>) {
  // expected-error@+1 {{'qnn.dynamic_fully_connected' op (C3) input element type: got quantized i8, expected f32}}
  %result = "qnn.dynamic_fully_connected"(%x, %w) {clamp = array<f32>, asymmetric = false, operandSegmentSizes = array<i32: 1, 1, 0>} : (tensor<3x8x!q>, tensor<4x8x!w>) -> tensor<3x4xf32>
  return
}

// -----

!q = !quant.uniform<i8:f32, 5.000000e-01:3>
!w = !quant.uniform<i8:f32, 2.500000e-01>
!b = !quant.uniform<i32:f32, 1.250000e-01>
!h = !quant.uniform<i16:f32, 2.500000e-01>
!c = !quant.uniform<i8:f32:0, {2.500000e-01,5.000000e-01}>
!z = !quant.uniform<i8:f32:1, {2.500000e-01,5.000000e-01}>

func.func @dynamic_fully_connected_c3_filter(%x: tensor<3x8xf32>, %w: tensor<4x8xf32>) {
  // expected-error@+1 {{'qnn.dynamic_fully_connected' op (C3) filter element type: got f32, expected a quantized one}}
  %result = "qnn.dynamic_fully_connected"(%x, %w) {clamp = array<f32>, asymmetric = false, operandSegmentSizes = array<i32: 1, 1, 0>} : (tensor<3x8xf32>, tensor<4x8xf32>) -> tensor<3x4xf32>
  return
}

// -----

!q = !quant.uniform<i8:f32, 5.000000e-01:3>
!w = !quant.uniform<i8:f32, 2.500000e-01>
!b = !quant.uniform<i32:f32, 1.250000e-01>
!h = !quant.uniform<i16:f32, 2.500000e-01>
!c = !quant.uniform<i8:f32:0, {2.500000e-01,5.000000e-01}>
!z = !quant.uniform<i8:f32:1, {2.500000e-01,5.000000e-01}>

func.func @dynamic_fully_connected_c3_filter_storage(%x: tensor<3x8xf32>, %w: tensor<4x8x!h>) {
  // expected-error@+1 {{'qnn.dynamic_fully_connected' op (C3) filter: got storage type i16, expected i4 or i8}}
  %result = "qnn.dynamic_fully_connected"(%x, %w) {clamp = array<f32>, asymmetric = false, operandSegmentSizes = array<i32: 1, 1, 0>} : (tensor<3x8xf32>, tensor<4x8x!h>) -> tensor<3x4xf32>
  return
}

// -----

!q = !quant.uniform<i8:f32, 5.000000e-01:3>
!w = !quant.uniform<i8:f32, 2.500000e-01>
!b = !quant.uniform<i32:f32, 1.250000e-01>
!h = !quant.uniform<i16:f32, 2.500000e-01>
!c = !quant.uniform<i8:f32:0, {2.500000e-01,5.000000e-01}>
!z = !quant.uniform<i8:f32:1, {2.500000e-01,5.000000e-01}>

func.func @dynamic_fully_connected_c3_filter_axis(%x: tensor<3x2xf32>, %w: tensor<4x2x!z>) {
  // expected-error@+1 {{'qnn.dynamic_fully_connected' op (C3) filter must be quantized per-tensor or per-axis 0 (output channel), got quantized i8 per-axis 1}}
  %result = "qnn.dynamic_fully_connected"(%x, %w) {clamp = array<f32>, asymmetric = false, operandSegmentSizes = array<i32: 1, 1, 0>} : (tensor<3x2xf32>, tensor<4x2x!z>) -> tensor<3x4xf32>
  return
}

// -----

!q = !quant.uniform<i8:f32, 5.000000e-01:3>
!w = !quant.uniform<i8:f32, 2.500000e-01>
!b = !quant.uniform<i32:f32, 1.250000e-01>
!h = !quant.uniform<i16:f32, 2.500000e-01>
!c = !quant.uniform<i8:f32:0, {2.500000e-01,5.000000e-01}>
!z = !quant.uniform<i8:f32:1, {2.500000e-01,5.000000e-01}>

func.func @dynamic_fully_connected_c3_zero_point(%x: tensor<3x8xf32>, %w: tensor<4x8x!q>) {
  // expected-error@+1 {{'qnn.dynamic_fully_connected' op (C3) filter zero points must be 0, got 3}}
  %result = "qnn.dynamic_fully_connected"(%x, %w) {clamp = array<f32>, asymmetric = false, operandSegmentSizes = array<i32: 1, 1, 0>} : (tensor<3x8xf32>, tensor<4x8x!q>) -> tensor<3x4xf32>
  return
}

// -----

!q = !quant.uniform<i8:f32, 5.000000e-01:3>
!w = !quant.uniform<i8:f32, 2.500000e-01>
!b = !quant.uniform<i32:f32, 1.250000e-01>
!h = !quant.uniform<i16:f32, 2.500000e-01>
!c = !quant.uniform<i8:f32:0, {2.500000e-01,5.000000e-01}>
!z = !quant.uniform<i8:f32:1, {2.500000e-01,5.000000e-01}>

func.func @dynamic_fully_connected_c4_bias_shape(%x: tensor<3x8xf32>, %w: tensor<4x8x!w>, %b: tensor<3xf32>) {
  // expected-error@+1 {{'qnn.dynamic_fully_connected' op (C4) bias shape: got [3], expected [4]}}
  %result = "qnn.dynamic_fully_connected"(%x, %w, %b) {clamp = array<f32>, asymmetric = false, operandSegmentSizes = array<i32: 1, 1, 1>} : (tensor<3x8xf32>, tensor<4x8x!w>, tensor<3xf32>) -> tensor<3x4xf32>
  return
}

// -----

!q = !quant.uniform<i8:f32, 5.000000e-01:3>
!w = !quant.uniform<i8:f32, 2.500000e-01>
!b = !quant.uniform<i32:f32, 1.250000e-01>
!h = !quant.uniform<i16:f32, 2.500000e-01>
!c = !quant.uniform<i8:f32:0, {2.500000e-01,5.000000e-01}>
!z = !quant.uniform<i8:f32:1, {2.500000e-01,5.000000e-01}>

func.func @dynamic_fully_connected_c4_bias_type(%x: tensor<3x8xf32>, %w: tensor<4x8x!w>, %b: tensor<4x!b>) {
  // expected-error@+1 {{'qnn.dynamic_fully_connected' op (C4) bias element type: got quantized i32, expected f32}}
  %result = "qnn.dynamic_fully_connected"(%x, %w, %b) {clamp = array<f32>, asymmetric = false, operandSegmentSizes = array<i32: 1, 1, 1>} : (tensor<3x8xf32>, tensor<4x8x!w>, tensor<4x!b>) -> tensor<3x4xf32>
  return
}

// -----

!q = !quant.uniform<i8:f32, 5.000000e-01:3>
!w = !quant.uniform<i8:f32, 2.500000e-01>
!b = !quant.uniform<i32:f32, 1.250000e-01>
!h = !quant.uniform<i16:f32, 2.500000e-01>
!c = !quant.uniform<i8:f32:0, {2.500000e-01,5.000000e-01}>
!z = !quant.uniform<i8:f32:1, {2.500000e-01,5.000000e-01}>

func.func @dynamic_fully_connected_c5_clamp(%x: tensor<3x8xf32>, %w: tensor<4x8x!w>) {
  // expected-error@+1 {{'qnn.dynamic_fully_connected' op (C5) clamp: got [1.0, -1.0], expected low <= high}}
  %result = "qnn.dynamic_fully_connected"(%x, %w) {clamp = array<f32: 1.0, -1.0>, asymmetric = false, operandSegmentSizes = array<i32: 1, 1, 0>} : (tensor<3x8xf32>, tensor<4x8x!w>) -> tensor<3x4xf32>
  return
}

// -----

!s = !quant.uniform<i8:f32:{0:2, 1:4}, {{0.5, 0.25}}>

// Blocks of several rows
func.func @dynamic_fully_connected_c3_blocks(%x: tensor<3x8xf32>, %w: tensor<2x8x!s>) {
  // expected-error@+1 {{'qnn.dynamic_fully_connected' op (C3) filter must be quantized per-tensor or per-axis 0 (output channel), got quantized i8 sub-channel}}
  %result = "qnn.dynamic_fully_connected"(%x, %w) {clamp = array<f32>, asymmetric = false, operandSegmentSizes = array<i32: 1, 1, 0>} : (tensor<3x8xf32>, tensor<2x8x!s>) -> tensor<3x2xf32>
  return
}
