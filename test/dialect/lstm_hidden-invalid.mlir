// RUN: qopt %s --split-input-file --verify-diagnostics

!b = !quant.uniform<i32:f32, 5.000000e-04>
!c = !quant.uniform<i16:f32, 2.44140625e-04>
!q = !quant.uniform<i8:f32, 7.812500e-03>

func.func @lstm_hidden_c0_operands(%x: tensor<1x8x!b>, %c: tensor<1x2x!c>) {
  // expected-error@+1 {{'qnn.lstm_hidden' op (C0) got 2 operands, expected 3}}
  %result = "qnn.lstm_hidden"(%x, %c) {} : (tensor<1x8x!b>, tensor<1x2x!c>) -> tensor<1x2x!q>
  return
}

// -----

!b = !quant.uniform<i32:f32, 5.000000e-04>
!c = !quant.uniform<i16:f32, 2.44140625e-04>
!q = !quant.uniform<i8:f32, 7.812500e-03>

func.func @lstm_hidden_c1_rank(%x: tensor<1x8x!b>, %h: tensor<1x8x!b>, %c: tensor<2x!c>) {
  // expected-error@+1 {{'qnn.lstm_hidden' op (C1) cell rank: got 1, expected 2}}
  %result = "qnn.lstm_hidden"(%x, %h, %c) {} : (tensor<1x8x!b>, tensor<1x8x!b>, tensor<2x!c>) -> tensor<1x2x!q>
  return
}

// -----

!b = !quant.uniform<i32:f32, 5.000000e-04>
!c = !quant.uniform<i16:f32, 2.44140625e-04>
!q = !quant.uniform<i8:f32, 7.812500e-03>

func.func @lstm_hidden_c1_shape(%x: tensor<1x8x!b>, %h: tensor<1x10x!b>, %c: tensor<1x2x!c>) {
  // expected-error@+1 {{'qnn.lstm_hidden' op (C1) recurrent sums shape: got [1, 10], expected [1, 8] or, without an input gate, [1, 6]}}
  %result = "qnn.lstm_hidden"(%x, %h, %c) {} : (tensor<1x8x!b>, tensor<1x10x!b>, tensor<1x2x!c>) -> tensor<1x2x!q>
  return
}

// -----

!b = !quant.uniform<i32:f32, 5.000000e-04>
!c = !quant.uniform<i16:f32, 2.44140625e-04>
!q = !quant.uniform<i8:f32, 7.812500e-03>

func.func @lstm_hidden_c2_storage(%x: tensor<1x8x!q>, %h: tensor<1x8x!b>, %c: tensor<1x2x!c>) {
  // expected-error@+1 {{'qnn.lstm_hidden' op (C2) input sums must be quantized i32 with zero point 0}}
  %result = "qnn.lstm_hidden"(%x, %h, %c) {} : (tensor<1x8x!q>, tensor<1x8x!b>, tensor<1x2x!c>) -> tensor<1x2x!q>
  return
}

// -----

!b = !quant.uniform<i32:f32, 5.000000e-04>
!c = !quant.uniform<i16:f32, 2.44140625e-04>
!q = !quant.uniform<i8:f32, 7.812500e-03>
!d = !quant.uniform<i32:f32:{1:4}, {{1.000000e-03, 2.000000e-03}}>

func.func @lstm_hidden_c2_blocks(%x: tensor<1x8x!d>, %h: tensor<1x8x!b>, %c: tensor<1x2x!c>) {
  // expected-error@+1 {{'qnn.lstm_hidden' op (C2) input sums must have one scale, or one per 2 values along axis 1}}
  %result = "qnn.lstm_hidden"(%x, %h, %c) {} : (tensor<1x8x!d>, tensor<1x8x!b>, tensor<1x2x!c>) -> tensor<1x2x!q>
  return
}

// -----

!b = !quant.uniform<i32:f32, 5.000000e-04>
!c = !quant.uniform<i16:f32, 2.44140625e-04>
!q = !quant.uniform<i8:f32, 7.812500e-03>

func.func @lstm_hidden_c3_storage(%x: tensor<1x8x!b>, %h: tensor<1x8x!b>, %c: tensor<1x2x!q>) {
  // expected-error@+1 {{'qnn.lstm_hidden' op (C3) cell: got storage type i8, expected i16}}
  %result = "qnn.lstm_hidden"(%x, %h, %c) {} : (tensor<1x8x!b>, tensor<1x8x!b>, tensor<1x2x!q>) -> tensor<1x2x!q>
  return
}

// -----

!b = !quant.uniform<i32:f32, 5.000000e-04>
!c = !quant.uniform<i16:f32, 2.44140625e-04>
!q = !quant.uniform<i8:f32, 7.812500e-03>
!d = !quant.uniform<i16:f32, 3.000000e-04>

func.func @lstm_hidden_c3_scale(%x: tensor<1x8x!b>, %h: tensor<1x8x!b>, %c: tensor<1x2x!d>) {
  // expected-error@+1 {{'qnn.lstm_hidden' op (C3) cell must have zero point 0 and a power of two as its scale}}
  %result = "qnn.lstm_hidden"(%x, %h, %c) {} : (tensor<1x8x!b>, tensor<1x8x!b>, tensor<1x2x!d>) -> tensor<1x2x!q>
  return
}

// -----

!b = !quant.uniform<i32:f32, 5.000000e-04>
!c = !quant.uniform<i16:f32, 2.44140625e-04>
!q = !quant.uniform<i8:f32, 7.812500e-03>
!d = !quant.uniform<i16:f32, 3.90625e-03>

func.func @lstm_hidden_c3_exponent(%x: tensor<1x8x!b>, %h: tensor<1x8x!b>, %c: tensor<1x2x!d>) {
  // expected-error@+1 {{'qnn.lstm_hidden' op (C3) cell scale: got 2^-8, expected 2^-15 to 2^-9}}
  %result = "qnn.lstm_hidden"(%x, %h, %c) {} : (tensor<1x8x!b>, tensor<1x8x!b>, tensor<1x2x!d>) -> tensor<1x2x!q>
  return
}

// -----

!b = !quant.uniform<i32:f32, 5.000000e-04>
!c = !quant.uniform<i16:f32, 2.44140625e-04>
!q = !quant.uniform<i8:f32, 7.812500e-03>

func.func @lstm_hidden_c4_shape(%x: tensor<1x8x!b>, %h: tensor<1x8x!b>, %c: tensor<1x2x!c>) {
  // expected-error@+1 {{'qnn.lstm_hidden' op (C4) result shape: got [1, 3], expected [1, 2]}}
  %result = "qnn.lstm_hidden"(%x, %h, %c) {} : (tensor<1x8x!b>, tensor<1x8x!b>, tensor<1x2x!c>) -> tensor<1x3x!q>
  return
}

// -----

!b = !quant.uniform<i32:f32, 5.000000e-04>
!c = !quant.uniform<i16:f32, 2.44140625e-04>
!q = !quant.uniform<i8:f32, 7.812500e-03>

func.func @lstm_hidden_c4_storage(%x: tensor<1x8x!b>, %h: tensor<1x8x!b>, %c: tensor<1x2x!c>) {
  // expected-error@+1 {{'qnn.lstm_hidden' op (C4) result: got storage type i16, expected i8}}
  %result = "qnn.lstm_hidden"(%x, %h, %c) {} : (tensor<1x8x!b>, tensor<1x8x!b>, tensor<1x2x!c>) -> tensor<1x2x!c>
  return
}
