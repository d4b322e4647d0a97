// RUN: qopt %s --split-input-file --verify-diagnostics

!q = !quant.uniform<i8:f32, 5.000000e-01:3>

func.func @reverse_sequence_c1_axis(%x: tensor<2x5x3x!q>, %n: tensor<2xi32>) {
  // expected-error@+1 {{'qnn.reverse_sequence' op (C1) axis: got 3, expected a dimension of a tensor of rank 3}}
  %result = "qnn.reverse_sequence"(%x, %n) {axis = 3 : i64, batch_axis = 0 : i64} : (tensor<2x5x3x!q>, tensor<2xi32>) -> tensor<2x5x3x!q>
  return
}

// -----

!q = !quant.uniform<i8:f32, 5.000000e-01:3>

func.func @reverse_sequence_c1_equal(%x: tensor<2x5x3x!q>, %n: tensor<2xi32>) {
  // expected-error@+1 {{'qnn.reverse_sequence' op (C1) axis and batch_axis: got 0 twice, expected different ones}}
  %result = "qnn.reverse_sequence"(%x, %n) {axis = 0 : i64, batch_axis = 0 : i64} : (tensor<2x5x3x!q>, tensor<2xi32>) -> tensor<2x5x3x!q>
  return
}

// -----

!q = !quant.uniform<i8:f32, 5.000000e-01:3>

func.func @reverse_sequence_c2_type(%x: tensor<2x5x3x!q>, %n: tensor<2xf32>) {
  // expected-error@+1 {{'qnn.reverse_sequence' op (C2) lengths element type: got f32, expected i16, i32 or i64}}
  %result = "qnn.reverse_sequence"(%x, %n) {axis = 1 : i64, batch_axis = 0 : i64} : (tensor<2x5x3x!q>, tensor<2xf32>) -> tensor<2x5x3x!q>
  return
}

// -----

!q = !quant.uniform<i8:f32, 5.000000e-01:3>

func.func @reverse_sequence_c2_count(%x: tensor<2x5x3x!q>, %n: tensor<5xi32>) {
  // expected-error@+1 {{'qnn.reverse_sequence' op (C2) lengths shape: got [5], expected [2]}}
  %result = "qnn.reverse_sequence"(%x, %n) {axis = 1 : i64, batch_axis = 0 : i64} : (tensor<2x5x3x!q>, tensor<5xi32>) -> tensor<2x5x3x!q>
  return
}

// -----

!q = !quant.uniform<i8:f32, 5.000000e-01:3>

func.func @reverse_sequence_c3_shape(%x: tensor<2x5x3x!q>, %n: tensor<2xi32>) {
  // expected-error@+1 {{'qnn.reverse_sequence' op (C3) result shape: got [2, 5, 4], expected [2, 5, 3]}}
  %result = "qnn.reverse_sequence"(%x, %n) {axis = 1 : i64, batch_axis = 0 : i64} : (tensor<2x5x3x!q>, tensor<2xi32>) -> tensor<2x5x4x!q>
  return
}

// -----

!q = !quant.uniform<i8:f32, 5.000000e-01:3>

func.func @reverse_sequence_c4_mixed(%x: tensor<2x5x3x!q>, %n: tensor<2xi32>) {
  // expected-error@+1 {{'qnn.reverse_sequence' op (C4) input and result must be all quantized or have the same element type, got input quantized i8, result f32}}
  %result = "qnn.reverse_sequence"(%x, %n) {axis = 1 : i64, batch_axis = 0 : i64} : (tensor<2x5x3x!q>, tensor<2xi32>) -> tensor<2x5x3xf32>
  return
}
