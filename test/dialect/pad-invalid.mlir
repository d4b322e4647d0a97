// RUN: qopt %s --split-input-file --verify-diagnostics

!q = !quant.uniform<i8:f32, 5.000000e-01:3>

func.func @pad_c1_count(%x: tensor<2x3x!q>) {
  // expected-error@+1 {{'qnn.pad' op (C1) low: got 1 values, expected 2}}
  %result = "qnn.pad"(%x) {high = array<i64: 0, 2>, low = array<i64: 0>, value = 0.000000e+00 : f32} : (tensor<2x3x!q>) -> tensor<2x6x!q>
  return
}

// -----

!q = !quant.uniform<i8:f32, 5.000000e-01:3>

func.func @pad_c1_negative(%x: tensor<2x3x!q>) {
  // expected-error@+1 {{'qnn.pad' op (C1) high: got [0, -1], expected values of at least 0}}
  %result = "qnn.pad"(%x) {high = array<i64: 0, -1>, low = array<i64: 0, 1>, value = 0.000000e+00 : f32} : (tensor<2x3x!q>) -> tensor<2x3x!q>
  return
}

// -----

!q = !quant.uniform<i8:f32, 5.000000e-01:3>

func.func @pad_c2_result_shape(%x: tensor<2x3x!q>) {
  // expected-error@+1 {{'qnn.pad' op (C2) result shape: got [2, 5], expected [2, 6]}}
  %result = "qnn.pad"(%x) {high = array<i64: 0, 2>, low = array<i64: 0, 1>, value = 0.000000e+00 : f32} : (tensor<2x3x!q>) -> tensor<2x5x!q>
  return
}

// -----

!q = !quant.uniform<i8:f32, 5.000000e-01:3>

func.func @pad_c3_mixed(%x: tensor<2x3x!q>) {
  // expected-error@+1 {{'qnn.pad' op (C3) input and result must be all quantized or have the same element type, got input quantized i8, result f32}}
  %result = "qnn.pad"(%x) {high = array<i64: 0, 2>, low = array<i64: 0, 1>, value = 0.000000e+00 : f32} : (tensor<2x3x!q>) -> tensor<2x6xf32>
  return
}

// -----

!q = !quant.uniform<i8:f32, 5.000000e-01:3>

func.func @pad_c4_nan(%x: tensor<2x3x!q>) {
  // expected-error@+1 {{'qnn.pad' op (C4) value: got nan, expected a number}}
  %result = "qnn.pad"(%x) {high = array<i64: 0, 2>, low = array<i64: 0, 1>, value = 0x7FC00000 : f32} : (tensor<2x3x!q>) -> tensor<2x6x!q>
  return
}
