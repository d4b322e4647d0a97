// Values of different width do not meet in a computation: there has to be a requantize.
// RUN: qopt %s --split-input-file --verify-diagnostics

!i8 = !quant.uniform<i8:f32, 5.000000e-01:3>
!w = !quant.uniform<i8:f32, 2.500000e-01>
!acc = !quant.uniform<i32:f32, 1.250000e-01>

func.func @fully_connected_c3_accumulator_as_input(%x: tensor<1x4x!acc>, %w: tensor<2x4x!w>) {
  // expected-error@+1 {{'qnn.fully_connected' op (C3) input: got storage type i32, expected i8, u8 or i16}}
  %y = "qnn.fully_connected"(%x, %w) {clamp = array<f32>, operandSegmentSizes = array<i32: 1, 1, 0>} : (tensor<1x4x!acc>, tensor<2x4x!w>) -> tensor<1x2x!i8>
  return
}

// -----

!gate = !quant.uniform<i8:f32, 7.812500e-03>
!cell = !quant.uniform<i16:f32, 3.051757e-05>

func.func @mul_c2_gate_and_cell(%gate: tensor<1x2x!gate>, %cell: tensor<1x2x!cell>) {
  // expected-error@+1 {{'qnn.mul' op (C2) storage types must be equally wide, got lhs quantized i8, rhs quantized i16, result quantized i16}}
  %y = "qnn.mul"(%gate, %cell) {clamp = array<f32>} : (tensor<1x2x!gate>, tensor<1x2x!cell>) -> tensor<1x2x!cell>
  return
}

// -----

!i8 = !quant.uniform<i8:f32, 5.000000e-01:3>
!acc = !quant.uniform<i32:f32, 1.250000e-01>

func.func @mul_c1_accumulators(%x: tensor<4x!acc>) {
  // expected-error@+1 {{'qnn.mul' op (C1) lhs: got storage type i32, expected i8, u8 or i16}}
  %y = "qnn.mul"(%x, %x) {clamp = array<f32>} : (tensor<4x!acc>, tensor<4x!acc>) -> tensor<4x!i8>
  return
}

// -----

!i8 = !quant.uniform<i8:f32, 5.000000e-01:3>
!acc = !quant.uniform<i32:f32, 1.250000e-01>

func.func @add_c1_accumulator_and_value(%x: tensor<4x!acc>, %y: tensor<4x!i8>) {
  // expected-error@+1 {{'qnn.add' op (C1) lhs: got storage type i32, expected i8, u8 or i16}}
  %z = "qnn.add"(%x, %y) {clamp = array<f32>} : (tensor<4x!acc>, tensor<4x!i8>) -> tensor<4x!i8>
  return
}

// -----

!i8 = !quant.uniform<i8:f32, 3.906250e-03:-128>
!wide = !quant.uniform<i16:f32, 1.000000e-03>

func.func @softmax_c4_narrowed(%x: tensor<1x4x!wide>) {
  // expected-error@+1 {{'qnn.softmax' op (C4) result: got storage type i8, expected at least 16 bits (the input's)}}
  %y = "qnn.softmax"(%x) {beta = 1.0 : f32, axis = 1 : i64} : (tensor<1x4x!wide>) -> tensor<1x4x!i8>
  return
}

// -----

!i8 = !quant.uniform<i8:f32, 5.000000e-01:3>

func.func @concat_c3_float(%x: tensor<4x!i8>, %y: tensor<4xf32>) {
  // expected-error@+1 {{'qnn.concat' op (C3) input 0, input 1 and result must be all quantized or have the same element type, got input 0 quantized i8, input 1 f32, result quantized i8}}
  %z = "qnn.concat"(%x, %y) {axis = 0 : i64, operandSegmentSizes = array<i32: 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>} : (tensor<4x!i8>, tensor<4xf32>) -> tensor<8x!i8>
  return
}
