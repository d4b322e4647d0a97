// RUN: qopt %s --split-input-file --verify-diagnostics

func.func @decode_boxes_c1_element(%e: tensor<9x4xi8>, %a: tensor<9x4xf32>) {
  // expected-error@+1 {{'qnn.decode_boxes' op (C1) encodings element type: got i8, expected f32}}
  %result = "qnn.decode_boxes"(%e, %a) {scales = array<f32: 10.0, 10.0, 5.0, 5.0>}
      : (tensor<9x4xi8>, tensor<9x4xf32>) -> tensor<9x4xf32>
  return
}

// -----

func.func @decode_boxes_c1_rank(%e: tensor<1x9x4xf32>, %a: tensor<9x4xf32>) {
  // expected-error@+1 {{'qnn.decode_boxes' op (C1) encodings rank: got 3, expected 2}}
  %result = "qnn.decode_boxes"(%e, %a) {scales = array<f32: 10.0, 10.0, 5.0, 5.0>}
      : (tensor<1x9x4xf32>, tensor<9x4xf32>) -> tensor<9x4xf32>
  return
}

// -----

func.func @decode_boxes_c1_width(%e: tensor<9x5xf32>, %a: tensor<9x4xf32>) {
  // expected-error@+1 {{'qnn.decode_boxes' op (C1) encodings shape: got [9, 5], expected 4 numbers per box}}
  %result = "qnn.decode_boxes"(%e, %a) {scales = array<f32: 10.0, 10.0, 5.0, 5.0>}
      : (tensor<9x5xf32>, tensor<9x4xf32>) -> tensor<9x4xf32>
  return
}

// -----

func.func @decode_boxes_c1_count(%e: tensor<9x4xf32>, %a: tensor<8x4xf32>) {
  // expected-error@+1 {{'qnn.decode_boxes' op (C1) anchors shape: got [8, 4], expected [9, 4]}}
  %result = "qnn.decode_boxes"(%e, %a) {scales = array<f32: 10.0, 10.0, 5.0, 5.0>}
      : (tensor<9x4xf32>, tensor<8x4xf32>) -> tensor<9x4xf32>
  return
}

// -----

func.func @decode_boxes_c2_count(%e: tensor<9x4xf32>, %a: tensor<9x4xf32>) {
  // expected-error@+1 {{'qnn.decode_boxes' op (C2) scales: got 3 values, expected 4}}
  %result = "qnn.decode_boxes"(%e, %a) {scales = array<f32: 10.0, 10.0, 5.0>}
      : (tensor<9x4xf32>, tensor<9x4xf32>) -> tensor<9x4xf32>
  return
}

// -----

func.func @decode_boxes_c2_zero(%e: tensor<9x4xf32>, %a: tensor<9x4xf32>) {
  // expected-error@+1 {{'qnn.decode_boxes' op (C2) scales: got [10.0, 0.0, 5.0, 5.0], expected finite numbers other than 0}}
  %result = "qnn.decode_boxes"(%e, %a) {scales = array<f32: 10.0, 0.0, 5.0, 5.0>}
      : (tensor<9x4xf32>, tensor<9x4xf32>) -> tensor<9x4xf32>
  return
}
