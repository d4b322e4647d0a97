// RUN: qopt %s --split-input-file --verify-diagnostics

!q = !quant.uniform<i8:f32, 5.000000e-01:3>

func.func @leaky_relu_c0_operands(%x: tensor<4x!q>, %y: tensor<4x!q>) {
  // expected-error@+1 {{'qnn.leaky_relu' op (C0) got 2 operands, expected 1}}
  %result = "qnn.leaky_relu"(%x, %y) {alpha = 2.5e-01 : f32} : (tensor<4x!q>, tensor<4x!q>) -> tensor<4x!q>
  return
}

// -----

!q = !quant.uniform<i8:f32, 5.000000e-01:3>

func.func @leaky_relu_c1_shape(%x: tensor<4x!q>) {
  // expected-error@+1 {{'qnn.leaky_relu' op (C1) result shape: got [5], expected [4]}}
  %result = "qnn.leaky_relu"(%x) {alpha = 2.5e-01 : f32} : (tensor<4x!q>) -> tensor<5x!q>
  return
}

// -----

!q = !quant.uniform<i8:f32, 5.000000e-01:3>

func.func @leaky_relu_c2_mixed(%x: tensor<4xf32>) {
  // expected-error@+1 {{'qnn.leaky_relu' op (C2) input and result must be all f32 or all quantized, got input f32, result quantized i8}}
  %result = "qnn.leaky_relu"(%x) {alpha = 2.5e-01 : f32} : (tensor<4xf32>) -> tensor<4x!q>
  return
}

// -----

!q = !quant.uniform<i8:f32, 5.000000e-01:3>
!c = !quant.uniform<i8:f32:0, {2.500000e-01, 5.000000e-01}>

func.func @leaky_relu_c2_per_channel(%x: tensor<2x!c>) {
  // expected-error@+1 {{'qnn.leaky_relu' op (C2) input must be quantized per-tensor, got quantized i8 per-axis 0}}
  %result = "qnn.leaky_relu"(%x) {alpha = 2.5e-01 : f32} : (tensor<2x!c>) -> tensor<2x!q>
  return
}

// -----

!q = !quant.uniform<i8:f32, 5.000000e-01:3>

func.func @leaky_relu_c3_alpha(%x: tensor<4x!q>) {
  // expected-error@+1 {{'qnn.leaky_relu' op (C3) alpha must be finite, got inf}}
  %result = "qnn.leaky_relu"(%x) {alpha = 0x7F800000 : f32} : (tensor<4x!q>) -> tensor<4x!q>
  return
}
