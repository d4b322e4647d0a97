// RUN: qopt %s --split-input-file --verify-diagnostics

!q = !quant.uniform<i8:f32, 5.000000e-01:3>

func.func @max_pool2d_c1_rank(%x: tensor<8x8x!q>) {
  // expected-error@+1 {{'qnn.max_pool2d' op (C1) input rank: got 2, expected 4}}
  %result = "qnn.max_pool2d"(%x) {clamp = array<f32>, padding = array<i64: 0, 0, 0, 0>, strides = array<i64: 2, 2>, window = array<i64: 2, 2>} : (tensor<8x8x!q>) -> tensor<1x4x4x2x!q>
  return
}

// -----

!q = !quant.uniform<i8:f32, 5.000000e-01:3>

func.func @max_pool2d_c2_window_count(%x: tensor<1x8x8x2x!q>) {
  // expected-error@+1 {{'qnn.max_pool2d' op (C2) window: got 1 values, expected 2}}
  %result = "qnn.max_pool2d"(%x) {clamp = array<f32>, padding = array<i64: 0, 0, 0, 0>, strides = array<i64: 2, 2>, window = array<i64: 2>} : (tensor<1x8x8x2x!q>) -> tensor<1x4x4x2x!q>
  return
}

// -----

!q = !quant.uniform<i8:f32, 5.000000e-01:3>

func.func @max_pool2d_c2_stride(%x: tensor<1x8x8x2x!q>) {
  // expected-error@+1 {{'qnn.max_pool2d' op (C2) strides: got [0, 2], expected values of at least 1}}
  %result = "qnn.max_pool2d"(%x) {clamp = array<f32>, padding = array<i64: 0, 0, 0, 0>, strides = array<i64: 0, 2>, window = array<i64: 2, 2>} : (tensor<1x8x8x2x!q>) -> tensor<1x4x4x2x!q>
  return
}

// -----

!q = !quant.uniform<i8:f32, 5.000000e-01:3>

func.func @max_pool2d_c2_padding_negative(%x: tensor<1x8x8x2x!q>) {
  // expected-error@+1 {{'qnn.max_pool2d' op (C2) padding: got [-1, 0, 0, 0], expected values of at least 0}}
  %result = "qnn.max_pool2d"(%x) {clamp = array<f32>, padding = array<i64: -1, 0, 0, 0>, strides = array<i64: 2, 2>, window = array<i64: 2, 2>} : (tensor<1x8x8x2x!q>) -> tensor<1x4x4x2x!q>
  return
}

// -----

!q = !quant.uniform<i8:f32, 5.000000e-01:3>

func.func @max_pool2d_c2_padding_of_window_size(%x: tensor<1x8x8x2x!q>) {
  // expected-error@+1 {{'qnn.max_pool2d' op (C2) padding: got [2, 0, 0, 0], expected less than the window [2, 2]}}
  %result = "qnn.max_pool2d"(%x) {clamp = array<f32>, padding = array<i64: 2, 0, 0, 0>, strides = array<i64: 2, 2>, window = array<i64: 2, 2>} : (tensor<1x8x8x2x!q>) -> tensor<1x5x4x2x!q>
  return
}

// -----

!q = !quant.uniform<i8:f32, 5.000000e-01:3>

func.func @max_pool2d_c3_result_shape(%x: tensor<1x8x8x2x!q>) {
  // expected-error@+1 {{'qnn.max_pool2d' op (C3) result shape: got [1, 4, 5, 2], expected [1, 4, 4, 2]}}
  %result = "qnn.max_pool2d"(%x) {clamp = array<f32>, padding = array<i64: 0, 0, 0, 0>, strides = array<i64: 2, 2>, window = array<i64: 2, 2>} : (tensor<1x8x8x2x!q>) -> tensor<1x4x5x2x!q>
  return
}

// -----

!q = !quant.uniform<i8:f32, 5.000000e-01:3>

func.func @max_pool2d_c3_window_too_large(%x: tensor<1x8x8x2x!q>) {
  // expected-error@+1 {{'qnn.max_pool2d' op (C3) a window of [9, 9] does not fit into the padded input of [8, 8]}}
  %result = "qnn.max_pool2d"(%x) {clamp = array<f32>, padding = array<i64: 0, 0, 0, 0>, strides = array<i64: 2, 2>, window = array<i64: 9, 9>} : (tensor<1x8x8x2x!q>) -> tensor<1x4x4x2x!q>
  return
}

// -----

!q = !quant.uniform<i8:f32, 5.000000e-01:3>

func.func @max_pool2d_c4_mixed(%x: tensor<1x8x8x2x!q>) {
  // expected-error@+1 {{'qnn.max_pool2d' op (C4) input and result must be all f32 or all quantized, got input quantized i8, result f32}}
  %result = "qnn.max_pool2d"(%x) {clamp = array<f32>, padding = array<i64: 0, 0, 0, 0>, strides = array<i64: 2, 2>, window = array<i64: 2, 2>} : (tensor<1x8x8x2x!q>) -> tensor<1x4x4x2xf32>
  return
}

// -----

!q = !quant.uniform<i8:f32, 5.000000e-01:3>
!c3 = !quant.uniform<i8:f32:3, {2.500000e-01,5.000000e-01}>

func.func @max_pool2d_c4_per_axis(%x: tensor<1x8x8x2x!q>) {
  // expected-error@+1 {{'qnn.max_pool2d' op (C4) result must be quantized per-tensor, got quantized i8 per-axis 3}}
  %result = "qnn.max_pool2d"(%x) {clamp = array<f32>, padding = array<i64: 0, 0, 0, 0>, strides = array<i64: 2, 2>, window = array<i64: 2, 2>} : (tensor<1x8x8x2x!q>) -> tensor<1x4x4x2x!c3>
  return
}

// -----

!q = !quant.uniform<i8:f32, 5.000000e-01:3>

func.func @max_pool2d_c5_clamp(%x: tensor<1x8x8x2x!q>) {
  // expected-error@+1 {{'qnn.max_pool2d' op (C5) clamp: got 3 values, expected none or low and high}}
  %result = "qnn.max_pool2d"(%x) {clamp = array<f32: 0.000000e+00, 1.000000e+00, 2.000000e+00>, padding = array<i64: 0, 0, 0, 0>, strides = array<i64: 2, 2>, window = array<i64: 2, 2>} : (tensor<1x8x8x2x!q>) -> tensor<1x4x4x2x!q>
  return
}
