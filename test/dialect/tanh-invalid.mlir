// RUN: qopt %s --split-input-file --verify-diagnostics

!q = !quant.uniform<i8:f32, 5.000000e-01:3>

func.func @tanh_c0_operands(%x: tensor<4x!q>, %y: tensor<4x!q>) {
  // expected-error@+1 {{'qnn.tanh' op (C0) got 2 operands, expected 1}}
  %result = "qnn.tanh"(%x, %y) : (tensor<4x!q>, tensor<4x!q>) -> tensor<4x!q>
  return
}

// -----

!q = !quant.uniform<i8:f32, 5.000000e-01:3>

func.func @tanh_c1_shape(%x: tensor<4x!q>) {
  // expected-error@+1 {{'qnn.tanh' op (C1) result shape: got [5], expected [4]}}
  %result = "qnn.tanh"(%x) : (tensor<4x!q>) -> tensor<5x!q>
  return
}

// -----

!q = !quant.uniform<i8:f32, 5.000000e-01:3>

func.func @tanh_c2_mixed(%x: tensor<4xf32>) {
  // expected-error@+1 {{'qnn.tanh' op (C2) input and result must be all f32 or all quantized, got input f32, result quantized i8}}
  %result = "qnn.tanh"(%x) : (tensor<4xf32>) -> tensor<4x!q>
  return
}

// -----

!q = !quant.uniform<i8:f32, 5.000000e-01:3>
!b = !quant.uniform<i32:f32, 1.250000e-01>

func.func @tanh_c2_storage(%x: tensor<4x!q>) {
  // expected-error@+1 {{'qnn.tanh' op (C2) result: got storage type i32, expected i8, u8 or i16}}
  %result = "qnn.tanh"(%x) : (tensor<4x!q>) -> tensor<4x!b>
  return
}
