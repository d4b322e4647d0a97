// RUN: qopt %s --split-input-file --verify-diagnostics

func.func @one_hot_c1_rank(%on: tensor<1xf32>, %off: tensor<f32>, %i: tensor<4xi32>) {
  // expected-error@+1 {{'qnn.one_hot' op (C1) on_value shape: got [1], expected []}}
  %result = "qnn.one_hot"(%on, %off, %i) {axis = 1 : i64} : (tensor<1xf32>, tensor<f32>, tensor<4xi32>) -> tensor<4x10xf32>
  return
}

// -----

func.func @one_hot_c2_axis(%on: tensor<f32>, %off: tensor<f32>, %i: tensor<4xi32>) {
  // expected-error@+1 {{'qnn.one_hot' op (C2) axis: got 2, expected a dimension of a tensor of rank 2}}
  %result = "qnn.one_hot"(%on, %off, %i) {axis = 2 : i64} : (tensor<f32>, tensor<f32>, tensor<4xi32>) -> tensor<4x10xf32>
  return
}

// -----

func.func @one_hot_c2_shape(%on: tensor<f32>, %off: tensor<f32>, %i: tensor<4xi32>) {
  // expected-error@+1 {{'qnn.one_hot' op (C2) indices shape: got [4], expected [10]}}
  %result = "qnn.one_hot"(%on, %off, %i) {axis = 0 : i64} : (tensor<f32>, tensor<f32>, tensor<4xi32>) -> tensor<4x10xf32>
  return
}

// -----

func.func @one_hot_c3_index_type(%on: tensor<f32>, %off: tensor<f32>, %i: tensor<4xf32>) {
  // expected-error@+1 {{'qnn.one_hot' op (C3) indices element type: got f32, expected i16, i32 or i64}}
  %result = "qnn.one_hot"(%on, %off, %i) {axis = 1 : i64} : (tensor<f32>, tensor<f32>, tensor<4xf32>) -> tensor<4x10xf32>
  return
}

// -----

func.func @one_hot_c4_mixed(%on: tensor<f32>, %off: tensor<i32>, %i: tensor<4xi32>) {
  // expected-error@+1 {{'qnn.one_hot' op (C4) on_value, off_value and result must be all quantized or have the same element type, got on_value f32, off_value i32, result f32}}
  %result = "qnn.one_hot"(%on, %off, %i) {axis = 1 : i64} : (tensor<f32>, tensor<i32>, tensor<4xi32>) -> tensor<4x10xf32>
  return
}
