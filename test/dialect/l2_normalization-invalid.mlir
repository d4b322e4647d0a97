// RUN: qopt %s --split-input-file --verify-diagnostics

!q = !quant.uniform<i8:f32, 5.000000e-01:3>

func.func @l2_normalization_c0_operands(%x: tensor<2x8x!q>, %y: tensor<8x!q>) {
  // expected-error@+1 {{'qnn.l2_normalization' op (C0) got 2 operands, expected 1}}
  %result = "qnn.l2_normalization"(%x, %y) {axis = 1 : i64} : (tensor<2x8x!q>, tensor<8x!q>) -> tensor<2x8x!q>
  return
}

// -----

!q = !quant.uniform<i8:f32, 5.000000e-01:3>

func.func @l2_normalization_c1_shape(%x: tensor<2x8x!q>) {
  // expected-error@+1 {{'qnn.l2_normalization' op (C1) result shape: got [2, 7], expected [2, 8]}}
  %result = "qnn.l2_normalization"(%x) {axis = 1 : i64} : (tensor<2x8x!q>) -> tensor<2x7x!q>
  return
}

// -----

!q = !quant.uniform<i8:f32, 5.000000e-01:3>

func.func @l2_normalization_c2_axis(%x: tensor<8x!q>) {
  // expected-error@+1 {{'qnn.l2_normalization' op (C2) axis: got 1, expected a dimension of a tensor of rank 1}}
  %result = "qnn.l2_normalization"(%x) {axis = 1 : i64} : (tensor<8x!q>) -> tensor<8x!q>
  return
}

// -----

!q = !quant.uniform<i8:f32, 5.000000e-01:3>

func.func @l2_normalization_c3_mixed(%x: tensor<2x8x!q>) {
  // expected-error@+1 {{'qnn.l2_normalization' op (C3) input and result must be all f32 or all quantized, got input quantized i8, result f32}}
  %result = "qnn.l2_normalization"(%x) {axis = 1 : i64} : (tensor<2x8x!q>) -> tensor<2x8xf32>
  return
}

// -----

!h = !quant.uniform<i16:f32, 7.812500e-03>

func.func @l2_normalization_c3_storage(%x: tensor<2x8x!h>) {
  // expected-error@+1 {{'qnn.l2_normalization' op (C3) input: got storage type i16, expected i8 or u8}}
  %result = "qnn.l2_normalization"(%x) {axis = 1 : i64} : (tensor<2x8x!h>) -> tensor<2x8x!h>
  return
}
