// RUN: qopt %s --split-input-file --verify-diagnostics

!q = !quant.uniform<i8:f32, 5.000000e-01:3>

func.func @fully_connected_c0_operands(%x: tensor<3x8x!q>) {
  // expected-error@+1 {{'qnn.fully_connected' op (C0) got 1 operands, expected 2 to 3}}
  %result = "qnn.fully_connected"(%x) {clamp = array<f32>, operandSegmentSizes = array<i32: 1, 0, 0>} : (tensor<3x8x!q>) -> tensor<3x4x!q>
  return
}

// -----

!q = !quant.uniform<i8:f32, 5.000000e-01:3>
!w = !quant.uniform<i8:f32, 2.500000e-01>

func.func @fully_connected_c1_filter_rank(%x: tensor<3x8x!q>, %w: tensor<8x!w>) {
  // expected-error@+1 {{'qnn.fully_connected' op (C1) filter rank: got 1, expected 2}}
  %result = "qnn.fully_connected"(%x, %w) {clamp = array<f32>, operandSegmentSizes = array<i32: 1, 1, 0>} : (tensor<3x8x!q>, tensor<8x!w>) -> tensor<3x4x!q>
  return
}

// -----

!q = !quant.uniform<i8:f32, 5.000000e-01:3>
!w = !quant.uniform<i8:f32, 2.500000e-01>

func.func @fully_connected_c1_input_rank(%x: tensor<!q>, %w: tensor<4x8x!w>) {
  // expected-error@+1 {{'qnn.fully_connected' op (C1) input rank: got 0, expected at least 1}}
  %result = "qnn.fully_connected"(%x, %w) {clamp = array<f32>, operandSegmentSizes = array<i32: 1, 1, 0>} : (tensor<!q>, tensor<4x8x!w>) -> tensor<3x4x!q>
  return
}

// -----

!q = !quant.uniform<i8:f32, 5.000000e-01:3>
!w = !quant.uniform<i8:f32, 2.500000e-01>

func.func @fully_connected_c2_features(%x: tensor<3x8x!q>, %w: tensor<4x7x!w>) {
  // expected-error@+1 {{'qnn.fully_connected' op (C2) input has 8 features, the filter 7}}
  %result = "qnn.fully_connected"(%x, %w) {clamp = array<f32>, operandSegmentSizes = array<i32: 1, 1, 0>} : (tensor<3x8x!q>, tensor<4x7x!w>) -> tensor<3x4x!q>
  return
}

// -----

!q = !quant.uniform<i8:f32, 5.000000e-01:3>
!w = !quant.uniform<i8:f32, 2.500000e-01>

func.func @fully_connected_c2_result_shape(%x: tensor<3x8x!q>, %w: tensor<4x8x!w>) {
  // expected-error@+1 {{'qnn.fully_connected' op (C2) result shape: got [3, 8], expected [3, 4]}}
  %result = "qnn.fully_connected"(%x, %w) {clamp = array<f32>, operandSegmentSizes = array<i32: 1, 1, 0>} : (tensor<3x8x!q>, tensor<4x8x!w>) -> tensor<3x8x!q>
  return
}

// -----

!q = !quant.uniform<i8:f32, 5.000000e-01:3>

func.func @fully_connected_c3_mixed(%x: tensor<3x8x!q>, %w: tensor<4x8xf32>) {
  // expected-error@+1 {{'qnn.fully_connected' op (C3) input, filter and result must be all f32 or all quantized, got input quantized i8, filter f32, result quantized i8}}
  %result = "qnn.fully_connected"(%x, %w) {clamp = array<f32>, operandSegmentSizes = array<i32: 1, 1, 0>} : (tensor<3x8x!q>, tensor<4x8xf32>) -> tensor<3x4x!q>
  return
}

// -----

!q = !quant.uniform<i8:f32, 5.000000e-01:3>
!x1 = !quant.uniform<i8:f32:1, {2.500000e-01,5.000000e-01}>

func.func @fully_connected_c3_filter_axis(%x: tensor<3x2x!q>, %w: tensor<4x2x!x1>) {
  // expected-error@+1 {{'qnn.fully_connected' op (C3) filter must be quantized per-tensor or per-axis 0 (output channel), got quantized i8 per-axis 1}}
  %result = "qnn.fully_connected"(%x, %w) {clamp = array<f32>, operandSegmentSizes = array<i32: 1, 1, 0>} : (tensor<3x2x!q>, tensor<4x2x!x1>) -> tensor<3x4x!q>
  return
}

// -----

!b = !quant.uniform<i32:f32, 1.250000e-01>
!w = !quant.uniform<i8:f32, 2.500000e-01>
!q = !quant.uniform<i8:f32, 5.000000e-01:3>

func.func @fully_connected_c3_input_storage(%x: tensor<3x8x!b>, %w: tensor<4x8x!w>) {
  // expected-error@+1 {{'qnn.fully_connected' op (C3) input: got storage type i32, expected i8, u8 or i16}}
  %result = "qnn.fully_connected"(%x, %w) {clamp = array<f32>, operandSegmentSizes = array<i32: 1, 1, 0>} : (tensor<3x8x!b>, tensor<4x8x!w>) -> tensor<3x4x!q>
  return
}

// -----

!q = !quant.uniform<i8:f32, 5.000000e-01:3>
!w = !quant.uniform<i8:f32, 2.500000e-01>
!bs = !quant.uniform<i32:f32, 2.500000e-01>

func.func @fully_connected_c4_bias_scale(%x: tensor<3x8x!q>, %w: tensor<4x8x!w>, %b: tensor<4x!bs>) {
  // expected-error@+1 {{'qnn.fully_connected' op (C4) bias scale: got 0.25, expected 0.125 (input scale x filter scale)}}
  %result = "qnn.fully_connected"(%x, %w, %b) {clamp = array<f32>, operandSegmentSizes = array<i32: 1, 1, 1>} : (tensor<3x8x!q>, tensor<4x8x!w>, tensor<4x!bs>) -> tensor<3x4x!q>
  return
}

// -----

!q = !quant.uniform<i8:f32, 5.000000e-01:3>
!w = !quant.uniform<i8:f32, 2.500000e-01>
!b = !quant.uniform<i32:f32, 1.250000e-01>

func.func @fully_connected_c4_bias_shape(%x: tensor<3x8x!q>, %w: tensor<4x8x!w>, %b: tensor<1x4x!b>) {
  // expected-error@+1 {{'qnn.fully_connected' op (C4) bias shape: got [1, 4], expected [4]}}
  %result = "qnn.fully_connected"(%x, %w, %b) {clamp = array<f32>, operandSegmentSizes = array<i32: 1, 1, 1>} : (tensor<3x8x!q>, tensor<4x8x!w>, tensor<1x4x!b>) -> tensor<3x4x!q>
  return
}

// -----

!q = !quant.uniform<i8:f32, 5.000000e-01:3>
!w = !quant.uniform<i8:f32, 2.500000e-01>

func.func @fully_connected_c5_clamp(%x: tensor<3x8x!q>, %w: tensor<4x8x!w>) {
  // expected-error@+1 {{'qnn.fully_connected' op (C5) clamp: got [1.0, -1.0], expected low <= high}}
  %result = "qnn.fully_connected"(%x, %w) {clamp = array<f32: 1.000000e+00, -1.000000e+00>, operandSegmentSizes = array<i32: 1, 1, 0>} : (tensor<3x8x!q>, tensor<4x8x!w>) -> tensor<3x4x!q>
  return
}

// -----

!q = !quant.uniform<i8:f32, 5.000000e-01:3>
!w = !quant.uniform<i8:f32, 2.500000e-01>

// 64-bit accumulators are what int16 activations have.
func.func @fully_connected_c4_wide_bias(%x: tensor<3x8x!q>, %w: tensor<4x8x!w>, %b: tensor<4xi64>) {
  // expected-error@+1 {{'qnn.fully_connected' op (C4) bias element type: got i64, expected quantized i32}}
  %result = "qnn.fully_connected"(%x, %w, %b) {clamp = array<f32>, operandSegmentSizes = array<i32: 1, 1, 1>} : (tensor<3x8x!q>, tensor<4x8x!w>, tensor<4xi64>) -> tensor<3x4x!q>
  return
}
