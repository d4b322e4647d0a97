// RUN: qopt %s --split-input-file --verify-diagnostics

!q = !quant.uniform<i8:f32, 5.000000e-01:3>

func.func @concat_c0_segments(%a: tensor<2x3x!q>, %b: tensor<2x4x!q>) {
  // expected-error@+1 {{'qnn.concat' op (C0) attribute 'operandSegmentSizes': got array<i32: 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>, expected array<i32: 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>}}
  %result = "qnn.concat"(%a, %b) {axis = 1 : i64, operandSegmentSizes = array<i32: 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>} : (tensor<2x3x!q>, tensor<2x4x!q>) -> tensor<2x7x!q>
  return
}

// -----

!q = !quant.uniform<i8:f32, 5.000000e-01:3>

func.func @concat_c1_no_input() {
  // expected-error@+1 {{'qnn.concat' op (C1) inputs: got 0, expected at least 1}}
  %result = "qnn.concat"() {axis = 1 : i64, operandSegmentSizes = array<i32: 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>} : () -> tensor<2x7x!q>
  return
}

// -----

!q = !quant.uniform<i8:f32, 5.000000e-01:3>

func.func @concat_c1_axis(%a: tensor<2x3x!q>, %b: tensor<2x4x!q>) {
  // expected-error@+1 {{'qnn.concat' op (C1) axis: got 2, expected a dimension of a tensor of rank 2}}
  %result = "qnn.concat"(%a, %b) {axis = 2 : i64, operandSegmentSizes = array<i32: 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>} : (tensor<2x3x!q>, tensor<2x4x!q>) -> tensor<2x7x!q>
  return
}

// -----

!q = !quant.uniform<i8:f32, 5.000000e-01:3>

func.func @concat_c1_negative_axis(%a: tensor<2x3x!q>, %b: tensor<2x4x!q>) {
  // expected-error@+1 {{'qnn.concat' op (C1) axis: got -1, expected a dimension of a tensor of rank 2}}
  %result = "qnn.concat"(%a, %b) {axis = -1 : i64, operandSegmentSizes = array<i32: 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>} : (tensor<2x3x!q>, tensor<2x4x!q>) -> tensor<2x7x!q>
  return
}

// -----

!q = !quant.uniform<i8:f32, 5.000000e-01:3>

func.func @concat_c2_rank(%a: tensor<2x3x!q>, %b: tensor<2x4x1x!q>) {
  // expected-error@+1 {{'qnn.concat' op (C2) ranks differ: [2, 3] and [2, 4, 1]}}
  %result = "qnn.concat"(%a, %b) {axis = 1 : i64, operandSegmentSizes = array<i32: 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>} : (tensor<2x3x!q>, tensor<2x4x1x!q>) -> tensor<2x7x!q>
  return
}

// -----

!q = !quant.uniform<i8:f32, 5.000000e-01:3>

func.func @concat_c2_other_extent(%a: tensor<2x3x!q>, %b: tensor<3x4x!q>) {
  // expected-error@+1 {{'qnn.concat' op (C2) shapes [2, 3] and [3, 4] differ in dimension 0}}
  %result = "qnn.concat"(%a, %b) {axis = 1 : i64, operandSegmentSizes = array<i32: 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>} : (tensor<2x3x!q>, tensor<3x4x!q>) -> tensor<2x7x!q>
  return
}

// -----

!q = !quant.uniform<i8:f32, 5.000000e-01:3>

func.func @concat_c2_result_shape(%a: tensor<2x3x!q>, %b: tensor<2x4x!q>) {
  // expected-error@+1 {{'qnn.concat' op (C2) result shape: got [2, 8], expected [2, 7]}}
  %result = "qnn.concat"(%a, %b) {axis = 1 : i64, operandSegmentSizes = array<i32: 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>} : (tensor<2x3x!q>, tensor<2x4x!q>) -> tensor<2x8x!q>
  return
}

// -----

!q = !quant.uniform<i8:f32, 5.000000e-01:3>

func.func @concat_c3_mixed(%a: tensor<2x3x!q>, %b: tensor<2x4xf32>) {
  // expected-error@+1 {{'qnn.concat' op (C3) input 0, input 1 and result must be all quantized or have the same element type, got input 0 quantized i8, input 1 f32, result quantized i8}}
  %result = "qnn.concat"(%a, %b) {axis = 1 : i64, operandSegmentSizes = array<i32: 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>} : (tensor<2x3x!q>, tensor<2x4xf32>) -> tensor<2x7x!q>
  return
}
