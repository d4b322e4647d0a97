// RUN: qopt %s --split-input-file --verify-diagnostics

func.func @top_k_c1_rank(%x: tensor<f32>) {
  // expected-error@+1 {{'qnn.top_k' op (C1) ranks: got 0 and 0, expected at least 1}}
  %result = "qnn.top_k"(%x) : (tensor<f32>) -> tensor<i32>
  return
}

// -----

!q = !quant.uniform<i8:f32, 5.000000e-01:3>

func.func @top_k_c1_shape(%x: tensor<2x8x!q>) {
  // expected-error@+1 {{'qnn.top_k' op (C1) result shape: got [3], expected [2]}}
  %result = "qnn.top_k"(%x) : (tensor<2x8x!q>) -> tensor<3x3xi32>
  return
}

// -----

!q = !quant.uniform<i8:f32, 5.000000e-01:3>

func.func @top_k_c2_count(%x: tensor<2x8x!q>) {
  // expected-error@+1 {{'qnn.top_k' op (C2) result: got 9 indices of 8 values}}
  %result = "qnn.top_k"(%x) : (tensor<2x8x!q>) -> tensor<2x9xi32>
  return
}

// -----

func.func @top_k_c3_half(%x: tensor<2x8xf16>) {
  // expected-error@+1 {{'qnn.top_k' op (C3) input element type: got f16, expected f32, an integer or a quantized one}}
  %result = "qnn.top_k"(%x) : (tensor<2x8xf16>) -> tensor<2x3xi32>
  return
}

// -----

!q = !quant.uniform<i8:f32, 5.000000e-01:3>

func.func @top_k_c4_result(%x: tensor<2x8x!q>) {
  // expected-error@+1 {{'qnn.top_k' op (C4) result element type: got f32, expected i32 or i64}}
  %result = "qnn.top_k"(%x) : (tensor<2x8x!q>) -> tensor<2x3xf32>
  return
}
