// RUN: qopt %s --split-input-file --verify-diagnostics

!b = !quant.uniform<i32:f32, 5.000000e-04>
!c = !quant.uniform<i16:f32, 2.44140625e-04>
!w = !quant.uniform<i16:f32, 3.000000e-04>
!q = !quant.uniform<i8:f32, 7.812500e-03>
!z = !quant.uniform<i16:f32, 2.44140625e-04:1>

func.func @lstm_gate_c0_operands(%x: tensor<1x2x!b>) {
  // expected-error@+1 {{'qnn.lstm_gate' op (C0) got 1 operands, expected 2 to 4}}
  %result = "qnn.lstm_gate"(%x) {operandSegmentSizes = array<i32: 1, 0, 0, 0>} : (tensor<1x2x!b>) -> tensor<1x2x!c>
  return
}

// -----

!b = !quant.uniform<i32:f32, 5.000000e-04>
!c = !quant.uniform<i16:f32, 2.44140625e-04>
!w = !quant.uniform<i16:f32, 3.000000e-04>
!q = !quant.uniform<i8:f32, 7.812500e-03>
!z = !quant.uniform<i16:f32, 2.44140625e-04:1>

func.func @lstm_gate_c1_shape(%x: tensor<1x2x!b>, %h: tensor<1x3x!b>) {
  // expected-error@+1 {{'qnn.lstm_gate' op (C1) recurrent sums shape: got [1, 3], expected [1, 2]}}
  %result = "qnn.lstm_gate"(%x, %h) {operandSegmentSizes = array<i32: 1, 1, 0, 0>} : (tensor<1x2x!b>, tensor<1x3x!b>) -> tensor<1x2x!c>
  return
}

// -----

!b = !quant.uniform<i32:f32, 5.000000e-04>
!c = !quant.uniform<i16:f32, 2.44140625e-04>
!w = !quant.uniform<i16:f32, 3.000000e-04>
!q = !quant.uniform<i8:f32, 7.812500e-03>
!z = !quant.uniform<i16:f32, 2.44140625e-04:1>

func.func @lstm_gate_c1_peephole(%x: tensor<1x2x!b>, %h: tensor<1x2x!b>, %c: tensor<1x2x!c>) {
  // expected-error@+1 {{'qnn.lstm_gate' op (C1) the cell state comes without a peephole}}
  %result = "qnn.lstm_gate"(%x, %h, %c) {operandSegmentSizes = array<i32: 1, 1, 1, 0>} : (tensor<1x2x!b>, tensor<1x2x!b>, tensor<1x2x!c>) -> tensor<1x2x!c>
  return
}

// -----

!b = !quant.uniform<i32:f32, 5.000000e-04>
!c = !quant.uniform<i16:f32, 2.44140625e-04>
!w = !quant.uniform<i16:f32, 3.000000e-04>
!q = !quant.uniform<i8:f32, 7.812500e-03>
!z = !quant.uniform<i16:f32, 2.44140625e-04:1>

func.func @lstm_gate_c2_storage(%x: tensor<1x2x!c>, %h: tensor<1x2x!b>) {
  // expected-error@+1 {{'qnn.lstm_gate' op (C2) input sums: got storage type i16, expected i32}}
  %result = "qnn.lstm_gate"(%x, %h) {operandSegmentSizes = array<i32: 1, 1, 0, 0>} : (tensor<1x2x!c>, tensor<1x2x!b>) -> tensor<1x2x!c>
  return
}

// -----

!b = !quant.uniform<i32:f32, 5.000000e-04>
!c = !quant.uniform<i16:f32, 2.44140625e-04>
!w = !quant.uniform<i16:f32, 3.000000e-04>
!q = !quant.uniform<i8:f32, 7.812500e-03>
!z = !quant.uniform<i16:f32, 2.44140625e-04:1>

func.func @lstm_gate_c3_scale(%x: tensor<1x2x!b>, %h: tensor<1x2x!b>, %c: tensor<1x2x!w>, %p: tensor<1x2x!w>) {
  // expected-error@+1 {{'qnn.lstm_gate' op (C3) cell must have zero point 0 and a power of two as its scale}}
  %result = "qnn.lstm_gate"(%x, %h, %c, %p) {operandSegmentSizes = array<i32: 1, 1, 1, 1>} : (tensor<1x2x!b>, tensor<1x2x!b>, tensor<1x2x!w>, tensor<1x2x!w>) -> tensor<1x2x!c>
  return
}

// -----

!b = !quant.uniform<i32:f32, 5.000000e-04>
!c = !quant.uniform<i16:f32, 2.44140625e-04>
!w = !quant.uniform<i16:f32, 3.000000e-04>
!q = !quant.uniform<i8:f32, 7.812500e-03>
!z = !quant.uniform<i16:f32, 2.44140625e-04:1>

func.func @lstm_gate_c4_storage(%x: tensor<1x2x!b>, %h: tensor<1x2x!b>, %c: tensor<1x2x!c>, %p: tensor<1x2x!q>) {
  // expected-error@+1 {{'qnn.lstm_gate' op (C4) peephole: got storage type i8, expected i16}}
  %result = "qnn.lstm_gate"(%x, %h, %c, %p) {operandSegmentSizes = array<i32: 1, 1, 1, 1>} : (tensor<1x2x!b>, tensor<1x2x!b>, tensor<1x2x!c>, tensor<1x2x!q>) -> tensor<1x2x!c>
  return
}

// -----

!b = !quant.uniform<i32:f32, 5.000000e-04>
!c = !quant.uniform<i16:f32, 2.44140625e-04>
!w = !quant.uniform<i16:f32, 3.000000e-04>
!q = !quant.uniform<i8:f32, 7.812500e-03>
!z = !quant.uniform<i16:f32, 2.44140625e-04:1>

func.func @lstm_gate_c5_zero(%x: tensor<1x2x!b>, %h: tensor<1x2x!b>) {
  // expected-error@+1 {{'qnn.lstm_gate' op (C5) result zero point: got 1, expected 0}}
  %result = "qnn.lstm_gate"(%x, %h) {operandSegmentSizes = array<i32: 1, 1, 0, 0>} : (tensor<1x2x!b>, tensor<1x2x!b>) -> tensor<1x2x!z>
  return
}
