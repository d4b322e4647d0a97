// RUN: qopt %s --split-input-file --verify-diagnostics

func.func @local_response_normalization_c0_operands(%x: tensor<2x8xf32>, %y: tensor<8xf32>) {
  // expected-error@+1 {{'qnn.local_response_normalization' op (C0) got 2 operands, expected 1}}
  %result = "qnn.local_response_normalization"(%x, %y) {alpha = 5.000000e-01 : f32, beta = 7.500000e-01 : f32, bias = 1.000000e+00 : f32, radius = 2 : i64} : (tensor<2x8xf32>, tensor<8xf32>) -> tensor<2x8xf32>
  return
}

// -----

func.func @local_response_normalization_c1_shape(%x: tensor<2x8xf32>) {
  // expected-error@+1 {{'qnn.local_response_normalization' op (C1) result shape: got [2, 7], expected [2, 8]}}
  %result = "qnn.local_response_normalization"(%x) {alpha = 5.000000e-01 : f32, beta = 7.500000e-01 : f32, bias = 1.000000e+00 : f32, radius = 2 : i64} : (tensor<2x8xf32>) -> tensor<2x7xf32>
  return
}

// -----

!q = !quant.uniform<i8:f32, 5.000000e-01:3>

func.func @local_response_normalization_c2_quantized(%x: tensor<2x8x!q>) {
  // expected-error@+1 {{'qnn.local_response_normalization' op (C2) input element type: got quantized i8, expected f32}}
  %result = "qnn.local_response_normalization"(%x) {alpha = 5.000000e-01 : f32, beta = 7.500000e-01 : f32, bias = 1.000000e+00 : f32, radius = 2 : i64} : (tensor<2x8x!q>) -> tensor<2x8x!q>
  return
}

// -----

func.func @local_response_normalization_c3_radius(%x: tensor<2x8xf32>) {
  // expected-error@+1 {{'qnn.local_response_normalization' op (C3) radius must not be negative, got -1}}
  %result = "qnn.local_response_normalization"(%x) {alpha = 5.000000e-01 : f32, beta = 7.500000e-01 : f32, bias = 1.000000e+00 : f32, radius = -1 : i64} : (tensor<2x8xf32>) -> tensor<2x8xf32>
  return
}
