// RUN: qopt %s --split-input-file --verify-diagnostics

!q = !quant.uniform<i8:f32, 5.000000e-01:3>

func.func @gather_c1_index_type(%x: tensor<2x8x3x!q>, %i: tensor<5x1xf32>) {
  // expected-error@+1 {{'qnn.gather' op (C1) indices element type: got f32, expected i16, i32 or i64}}
  %result = "qnn.gather"(%x, %i) {axis = 1 : i64, batch_dims = 0 : i64} : (tensor<2x8x3x!q>, tensor<5x1xf32>) -> tensor<2x5x3x!q>
  return
}

// -----

!q = !quant.uniform<i8:f32, 5.000000e-01:3>

func.func @gather_c1_no_depth(%x: tensor<2x8x3x!q>, %i: tensor<5x0xi32>) {
  // expected-error@+1 {{'qnn.gather' op (C1) indices shape: got [5, 0], expected 0 batch dimensions and a depth of at least 1}}
  %result = "qnn.gather"(%x, %i) {axis = 1 : i64, batch_dims = 0 : i64} : (tensor<2x8x3x!q>, tensor<5x0xi32>) -> tensor<2x5x8x3x!q>
  return
}

// -----

!q = !quant.uniform<i8:f32, 5.000000e-01:3>

func.func @gather_c2_axis(%x: tensor<2x8x3x!q>, %i: tensor<5x1xi32>) {
  // expected-error@+1 {{'qnn.gather' op (C2) axis: got 3, expected 0 to 2 for a depth of 1 in a tensor of rank 3}}
  %result = "qnn.gather"(%x, %i) {axis = 3 : i64, batch_dims = 0 : i64} : (tensor<2x8x3x!q>, tensor<5x1xi32>) -> tensor<2x5x3x!q>
  return
}

// -----

!q = !quant.uniform<i8:f32, 5.000000e-01:3>

func.func @gather_c2_batch(%x: tensor<2x8x3x!q>, %i: tensor<3x5x1xi32>) {
  // expected-error@+1 {{'qnn.gather' op (C2) indices batch shape: got [3], expected [2]}}
  %result = "qnn.gather"(%x, %i) {axis = 1 : i64, batch_dims = 1 : i64} : (tensor<2x8x3x!q>, tensor<3x5x1xi32>) -> tensor<2x5x3x!q>
  return
}

// -----

!q = !quant.uniform<i8:f32, 5.000000e-01:3>

func.func @gather_c2_empty(%x: tensor<2x0x3x!q>, %i: tensor<5x1xi32>) {
  // expected-error@+1 {{'qnn.gather' op (C2) input shape: got [2, 0, 3], which has nothing to gather}}
  %result = "qnn.gather"(%x, %i) {axis = 1 : i64, batch_dims = 0 : i64} : (tensor<2x0x3x!q>, tensor<5x1xi32>) -> tensor<2x5x3x!q>
  return
}

// -----

!q = !quant.uniform<i8:f32, 5.000000e-01:3>

func.func @gather_c3_shape(%x: tensor<2x8x3x!q>, %i: tensor<5x1xi32>) {
  // expected-error@+1 {{'qnn.gather' op (C3) result shape: got [2, 4, 3], expected [2, 5, 3]}}
  %result = "qnn.gather"(%x, %i) {axis = 1 : i64, batch_dims = 0 : i64} : (tensor<2x8x3x!q>, tensor<5x1xi32>) -> tensor<2x4x3x!q>
  return
}

// -----

!q = !quant.uniform<i8:f32, 5.000000e-01:3>

func.func @gather_c4_mixed(%x: tensor<2x8x3x!q>, %i: tensor<5x1xi32>) {
  // expected-error@+1 {{'qnn.gather' op (C4) input and result must be all quantized or have the same element type, got input quantized i8, result f32}}
  %result = "qnn.gather"(%x, %i) {axis = 1 : i64, batch_dims = 0 : i64} : (tensor<2x8x3x!q>, tensor<5x1xi32>) -> tensor<2x5x3xf32>
  return
}
