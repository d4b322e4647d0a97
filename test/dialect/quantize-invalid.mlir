// RUN: qopt %s --split-input-file --verify-diagnostics

!q = !quant.uniform<i8:f32, 5.000000e-01:3>

func.func @quantize_c1_input(%x: tensor<4x!q>) {
  // expected-error@+1 {{'qnn.quantize' op (C1) input element type: got quantized i8, expected f32}}
  %result = "qnn.quantize"(%x) : (tensor<4x!q>) -> tensor<4x!q>
  return
}

// -----

!q = !quant.uniform<i8:f32, 5.000000e-01:3>

func.func @quantize_c1_input_float64(%x: tensor<4xf64>) {
  // expected-error@+1 {{'qnn.quantize' op (C1) input element type: got f64, expected f32}}
  %result = "qnn.quantize"(%x) : (tensor<4xf64>) -> tensor<4x!q>
  return
}

// -----

func.func @quantize_c2_result(%x: tensor<4xf32>) {
  // expected-error@+1 {{'qnn.quantize' op (C2) result element type: got i8, expected per-tensor or per-axis quantized}}
  %result = "qnn.quantize"(%x) : (tensor<4xf32>) -> tensor<4xi8>
  return
}

// -----

!s = !quant.uniform<i4:f32:{0:1, 1:2}, {{5.000000e-01, 2.500000e-01:1}, {1.000000e+00, 2.000000e+00}}>

func.func @quantize_c2_sub_channel(%x: tensor<2x4xf32>) {
  // expected-error@+1 {{'qnn.quantize' op (C2) result element type: got quantized i4 sub-channel, expected per-tensor or per-axis quantized}}
  %result = "qnn.quantize"(%x) : (tensor<2x4xf32>) -> tensor<2x4x!s>
  return
}

// -----

!q = !quant.uniform<i8:f32, 5.000000e-01:3>

func.func @quantize_c3_shape(%x: tensor<4xf32>) {
  // expected-error@+1 {{'qnn.quantize' op (C3) result shape: got [2, 2], expected [4]}}
  %result = "qnn.quantize"(%x) : (tensor<4xf32>) -> tensor<2x2x!q>
  return
}
