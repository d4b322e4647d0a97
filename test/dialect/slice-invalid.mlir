// RUN: qopt %s --split-input-file --verify-diagnostics

!q = !quant.uniform<i8:f32, 5.000000e-01:3>

func.func @slice_c1_count(%x: tensor<2x3x!q>) {
  // expected-error@+1 {{'qnn.slice' op (C1) offsets: got 1 values, expected 2}}
  %result = "qnn.slice"(%x) {offsets = array<i64: 0>, sizes = array<i64: 2, 2>, strides = array<i64: 1, 1>} : (tensor<2x3x!q>) -> tensor<2x2x!q>
  return
}

// -----

!q = !quant.uniform<i8:f32, 5.000000e-01:3>

func.func @slice_c1_negative_offset(%x: tensor<2x3x!q>) {
  // expected-error@+1 {{'qnn.slice' op (C1) offsets: got [0, -1], expected values of at least 0}}
  %result = "qnn.slice"(%x) {offsets = array<i64: 0, -1>, sizes = array<i64: 2, 2>, strides = array<i64: 1, 1>} : (tensor<2x3x!q>) -> tensor<2x2x!q>
  return
}

// -----

!q = !quant.uniform<i8:f32, 5.000000e-01:3>

func.func @slice_c1_negative_stride(%x: tensor<2x3x!q>) {
  // expected-error@+1 {{'qnn.slice' op (C1) strides: got [1, -1], expected values of at least 1}}
  %result = "qnn.slice"(%x) {offsets = array<i64: 0, 1>, sizes = array<i64: 2, 2>, strides = array<i64: 1, -1>} : (tensor<2x3x!q>) -> tensor<2x2x!q>
  return
}

// -----

!q = !quant.uniform<i8:f32, 5.000000e-01:3>

func.func @slice_c2_outside(%x: tensor<2x3x!q>) {
  // expected-error@+1 {{'qnn.slice' op (C2) the slice reaches index 3 of dimension 1, whose extent is 3}}
  %result = "qnn.slice"(%x) {offsets = array<i64: 0, 1>, sizes = array<i64: 2, 3>, strides = array<i64: 1, 1>} : (tensor<2x3x!q>) -> tensor<2x3x!q>
  return
}

// -----

!q = !quant.uniform<i8:f32, 5.000000e-01:3>

func.func @slice_c2_huge(%x: tensor<2x3x!q>) {
  // expected-error@+1 {{'qnn.slice' op (C2) the slice reaches index 9223372036854775808 of dimension 1, whose extent is 3}}
  %result = "qnn.slice"(%x) {offsets = array<i64: 0, 9223372036854775807>, sizes = array<i64: 2, 2>, strides = array<i64: 1, 1>} : (tensor<2x3x!q>) -> tensor<2x2x!q>
  return
}

// -----

!q = !quant.uniform<i8:f32, 5.000000e-01:3>

func.func @slice_c3_result_shape(%x: tensor<2x3x!q>) {
  // expected-error@+1 {{'qnn.slice' op (C3) result shape: got [2, 3], expected [2, 2]}}
  %result = "qnn.slice"(%x) {offsets = array<i64: 0, 1>, sizes = array<i64: 2, 2>, strides = array<i64: 1, 1>} : (tensor<2x3x!q>) -> tensor<2x3x!q>
  return
}

// -----

!q = !quant.uniform<i8:f32, 5.000000e-01:3>

func.func @slice_c4_mixed(%x: tensor<2x3x!q>) {
  // expected-error@+1 {{'qnn.slice' op (C4) input and result must be all quantized or have the same element type, got input quantized i8, result f32}}
  %result = "qnn.slice"(%x) {offsets = array<i64: 0, 1>, sizes = array<i64: 2, 2>, strides = array<i64: 1, 1>} : (tensor<2x3x!q>) -> tensor<2x2xf32>
  return
}
