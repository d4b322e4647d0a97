// RUN: qopt %s --split-input-file --verify-diagnostics

func.func @scatter_nd_c1_index_type(%u: tensor<5x3xf32>, %i: tensor<5x1xf32>) {
  // expected-error@+1 {{'qnn.scatter_nd' op (C1) indices element type: got f32, expected i16, i32 or i64}}
  %result = "qnn.scatter_nd"(%u, %i) : (tensor<5x3xf32>, tensor<5x1xf32>) -> tensor<8x3xf32>
  return
}

// -----

func.func @scatter_nd_c1_depth(%u: tensor<5x3xf32>, %i: tensor<5x3xi32>) {
  // expected-error@+1 {{'qnn.scatter_nd' op (C1) indices shape: got [5, 3], expected a depth of 1 to 2, the result's rank}}
  %result = "qnn.scatter_nd"(%u, %i) : (tensor<5x3xf32>, tensor<5x3xi32>) -> tensor<8x3xf32>
  return
}

// -----

func.func @scatter_nd_c2_shape(%u: tensor<4x3xf32>, %i: tensor<5x1xi32>) {
  // expected-error@+1 {{'qnn.scatter_nd' op (C2) updates shape: got [4, 3], expected [5, 3]}}
  %result = "qnn.scatter_nd"(%u, %i) : (tensor<4x3xf32>, tensor<5x1xi32>) -> tensor<8x3xf32>
  return
}

// -----

func.func @scatter_nd_c3_mixed(%u: tensor<5x3xf32>, %i: tensor<5x1xi32>) {
  // expected-error@+1 {{'qnn.scatter_nd' op (C3) updates and result must be all quantized or have the same element type, got updates f32, result i32}}
  %result = "qnn.scatter_nd"(%u, %i) : (tensor<5x3xf32>, tensor<5x1xi32>) -> tensor<8x3xi32>
  return
}

// -----

!q = !quant.uniform<i8:f32, 5.000000e-01:3>
!r = !quant.uniform<i8:f32, 2.500000e-01:-1>

func.func @scatter_nd_c3_parameters(%u: tensor<5x3x!q>, %i: tensor<5x1xi32>) {
  // expected-error@+1 {{'qnn.scatter_nd' op (C3) updates and result must have the same parameters}}
  %result = "qnn.scatter_nd"(%u, %i) : (tensor<5x3x!q>, tensor<5x1xi32>) -> tensor<8x3x!r>
  return
}
