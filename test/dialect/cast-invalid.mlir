// RUN: qopt %s --split-input-file --verify-diagnostics

func.func @cast_c1_shape(%x: tensor<4xi32>) {
  // expected-error@+1 {{'qnn.cast' op (C1) result shape: got [5], expected [4]}}
  %result = "qnn.cast"(%x) : (tensor<4xi32>) -> tensor<5xf32>
  return
}

// -----

!c = !quant.uniform<i8:f32:0, {5.000000e-01, 2.500000e-01}>

func.func @cast_c2_input(%x: tensor<2x!c>) {
  // expected-error@+1 {{'qnn.cast' op (C2) input must be quantized per-tensor, got quantized i8 per-axis 0}}
  %result = "qnn.cast"(%x) : (tensor<2x!c>) -> tensor<2xi32>
  return
}

// -----

!c = !quant.uniform<i8:f32:0, {5.000000e-01, 2.500000e-01}>

func.func @cast_c2_result(%x: tensor<2xi32>) {
  // expected-error@+1 {{'qnn.cast' op (C2) result must be quantized per-tensor, got quantized i8 per-axis 0}}
  %result = "qnn.cast"(%x) : (tensor<2xi32>) -> tensor<2x!c>
  return
}
