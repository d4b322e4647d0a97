// RUN: qopt %s --split-input-file --verify-diagnostics

func.func @nonzero_c1_element(%x: tensor<8xi8>) {
  // expected-error@+1 {{'qnn.nonzero' op (C1) input element type: got i8, expected i1}}
  %result = "qnn.nonzero"(%x) : (tensor<8xi8>) -> tensor<8xi64>
  return
}

// -----

func.func @nonzero_c1_rank(%x: tensor<2x8xi1>) {
  // expected-error@+1 {{'qnn.nonzero' op (C1) input rank: got 2, expected 1}}
  %result = "qnn.nonzero"(%x) : (tensor<2x8xi1>) -> tensor<2x8xi64>
  return
}

// -----

func.func @nonzero_c2_shape(%x: tensor<8xi1>) {
  // expected-error@+1 {{'qnn.nonzero' op (C2) result shape: got [7], expected [8]}}
  %result = "qnn.nonzero"(%x) : (tensor<8xi1>) -> tensor<7xi64>
  return
}

// -----

func.func @nonzero_c3_element(%x: tensor<8xi1>) {
  // expected-error@+1 {{'qnn.nonzero' op (C3) result element type: got f32, expected i32 or i64}}
  %result = "qnn.nonzero"(%x) : (tensor<8xi1>) -> tensor<8xf32>
  return
}
