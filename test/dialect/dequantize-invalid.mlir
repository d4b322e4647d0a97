// RUN: qopt %s --split-input-file --verify-diagnostics

func.func @dequantize_c1_input(%x: tensor<4xi8>) {
  // expected-error@+1 {{'qnn.dequantize' op (C1) input element type: got i8, expected a quantized one}}
  %result = "qnn.dequantize"(%x) : (tensor<4xi8>) -> tensor<4xf32>
  return
}

// -----

!q = !quant.uniform<i8:f32, 5.000000e-01:3>

func.func @dequantize_c2_result(%x: tensor<4x!q>) {
  // expected-error@+1 {{'qnn.dequantize' op (C2) result element type: got f16, expected f32}}
  %result = "qnn.dequantize"(%x) : (tensor<4x!q>) -> tensor<4xf16>
  return
}

// -----

!q = !quant.uniform<i8:f32, 5.000000e-01:3>

func.func @dequantize_c3_shape(%x: tensor<4x!q>) {
  // expected-error@+1 {{'qnn.dequantize' op (C3) result shape: got [5], expected [4]}}
  %result = "qnn.dequantize"(%x) : (tensor<4x!q>) -> tensor<5xf32>
  return
}
