// RUN: qopt %s --split-input-file --verify-diagnostics

!b = !quant.uniform<i32:f32, 5.000000e-04>
!c = !quant.uniform<i16:f32, 2.44140625e-04>
!w = !quant.uniform<i16:f32, 3.000000e-04>
!q = !quant.uniform<i8:f32, 7.812500e-03>
!z = !quant.uniform<i16:f32, 2.44140625e-04:1>

func.func @lstm_normalization_c0_operands(%g: tensor<1x2x!c>, %w: tensor<2x!w>) {
  // expected-error@+1 {{'qnn.lstm_normalization' op (C0) got 2 operands, expected 3}}
  %result = "qnn.lstm_normalization"(%g, %w) : (tensor<1x2x!c>, tensor<2x!w>) -> tensor<1x2x!c>
  return
}

// -----

!b = !quant.uniform<i32:f32, 5.000000e-04>
!c = !quant.uniform<i16:f32, 2.44140625e-04>
!w = !quant.uniform<i16:f32, 3.000000e-04>
!q = !quant.uniform<i8:f32, 7.812500e-03>
!z = !quant.uniform<i16:f32, 2.44140625e-04:1>

func.func @lstm_normalization_c1_shape(%g: tensor<1x2x!c>, %w: tensor<2x!w>, %b: tensor<3x!b>) {
  // expected-error@+1 {{'qnn.lstm_normalization' op (C1) bias shape: got [3], expected [2]}}
  %result = "qnn.lstm_normalization"(%g, %w, %b) : (tensor<1x2x!c>, tensor<2x!w>, tensor<3x!b>) -> tensor<1x2x!c>
  return
}

// -----

!b = !quant.uniform<i32:f32, 5.000000e-04>
!c = !quant.uniform<i16:f32, 2.44140625e-04>
!w = !quant.uniform<i16:f32, 3.000000e-04>
!q = !quant.uniform<i8:f32, 7.812500e-03>
!z = !quant.uniform<i16:f32, 2.44140625e-04:1>

func.func @lstm_normalization_c2_storage(%g: tensor<1x2x!c>, %w: tensor<2x!q>, %b: tensor<2x!b>) {
  // expected-error@+1 {{'qnn.lstm_normalization' op (C2) weights: got storage type i8, expected i16}}
  %result = "qnn.lstm_normalization"(%g, %w, %b) : (tensor<1x2x!c>, tensor<2x!q>, tensor<2x!b>) -> tensor<1x2x!c>
  return
}

// -----

!b = !quant.uniform<i32:f32, 5.000000e-04>
!c = !quant.uniform<i16:f32, 2.44140625e-04>
!w = !quant.uniform<i16:f32, 3.000000e-04>
!q = !quant.uniform<i8:f32, 7.812500e-03>
!z = !quant.uniform<i16:f32, 2.44140625e-04:1>

func.func @lstm_normalization_c3_storage(%g: tensor<1x2x!c>, %w: tensor<2x!w>, %b: tensor<2x!w>) {
  // expected-error@+1 {{'qnn.lstm_normalization' op (C3) bias: got storage type i16, expected i32}}
  %result = "qnn.lstm_normalization"(%g, %w, %b) : (tensor<1x2x!c>, tensor<2x!w>, tensor<2x!w>) -> tensor<1x2x!c>
  return
}

// -----

!b = !quant.uniform<i32:f32, 5.000000e-04>
!c = !quant.uniform<i16:f32, 2.44140625e-04>
!w = !quant.uniform<i16:f32, 3.000000e-04>
!q = !quant.uniform<i8:f32, 7.812500e-03>
!z = !quant.uniform<i16:f32, 2.44140625e-04:1>

func.func @lstm_normalization_c4_scale(%g: tensor<1x2x!c>, %w: tensor<2x!w>, %b: tensor<2x!b>) {
  // expected-error@+1 {{'qnn.lstm_normalization' op (C4) result scale: got 0.0003, expected 2^-12}}
  %result = "qnn.lstm_normalization"(%g, %w, %b) : (tensor<1x2x!c>, tensor<2x!w>, tensor<2x!b>) -> tensor<1x2x!w>
  return
}
