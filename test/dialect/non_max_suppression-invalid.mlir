// RUN: qopt %s --split-input-file --verify-diagnostics

func.func @non_max_suppression_c1_element(%b: tensor<9x4xi8>, %s: tensor<3x9xf32>) {
  // expected-error@+1 {{'qnn.non_max_suppression' op (C1) boxes element type: got i8, expected f32}}
  %result = "qnn.non_max_suppression"(%b, %s) {score_threshold = 0.5 : f32, iou_threshold = 0.6 : f32}
      : (tensor<9x4xi8>, tensor<3x9xf32>) -> tensor<3x5xi32>
  return
}

// -----

func.func @non_max_suppression_c1_width(%b: tensor<9x3xf32>, %s: tensor<3x9xf32>) {
  // expected-error@+1 {{'qnn.non_max_suppression' op (C1) boxes shape: got [9, 3], expected 4 numbers per box}}
  %result = "qnn.non_max_suppression"(%b, %s) {score_threshold = 0.5 : f32, iou_threshold = 0.6 : f32}
      : (tensor<9x3xf32>, tensor<3x9xf32>) -> tensor<3x5xi32>
  return
}

// -----

func.func @non_max_suppression_c2_element(%b: tensor<9x4xf32>, %s: tensor<3x9xf16>) {
  // expected-error@+1 {{'qnn.non_max_suppression' op (C2) scores element type: got f16, expected f32}}
  %result = "qnn.non_max_suppression"(%b, %s) {score_threshold = 0.5 : f32, iou_threshold = 0.6 : f32}
      : (tensor<9x4xf32>, tensor<3x9xf16>) -> tensor<3x5xi32>
  return
}

// -----

func.func @non_max_suppression_c2_rank(%b: tensor<9x4xf32>, %s: tensor<9xf32>) {
  // expected-error@+1 {{'qnn.non_max_suppression' op (C2) scores rank: got 1, expected 2}}
  %result = "qnn.non_max_suppression"(%b, %s) {score_threshold = 0.5 : f32, iou_threshold = 0.6 : f32}
      : (tensor<9x4xf32>, tensor<9xf32>) -> tensor<3x5xi32>
  return
}

// -----

func.func @non_max_suppression_c2_count(%b: tensor<9x4xf32>, %s: tensor<3x8xf32>) {
  // expected-error@+1 {{'qnn.non_max_suppression' op (C2) scores shape: got [3, 8], expected [3, 9]}}
  %result = "qnn.non_max_suppression"(%b, %s) {score_threshold = 0.5 : f32, iou_threshold = 0.6 : f32}
      : (tensor<9x4xf32>, tensor<3x8xf32>) -> tensor<3x5xi32>
  return
}

// -----

func.func @non_max_suppression_c3_element(%b: tensor<9x4xf32>, %s: tensor<3x9xf32>) {
  // expected-error@+1 {{'qnn.non_max_suppression' op (C3) result element type: got f32, expected i32}}
  %result = "qnn.non_max_suppression"(%b, %s) {score_threshold = 0.5 : f32, iou_threshold = 0.6 : f32}
      : (tensor<9x4xf32>, tensor<3x9xf32>) -> tensor<3x5xf32>
  return
}

// -----

func.func @non_max_suppression_c3_rank(%b: tensor<9x4xf32>, %s: tensor<3x9xf32>) {
  // expected-error@+1 {{'qnn.non_max_suppression' op (C3) result rank: got 1, expected 2}}
  %result = "qnn.non_max_suppression"(%b, %s) {score_threshold = 0.5 : f32, iou_threshold = 0.6 : f32}
      : (tensor<9x4xf32>, tensor<3x9xf32>) -> tensor<3xi32>
  return
}

// -----

func.func @non_max_suppression_c3_classes(%b: tensor<9x4xf32>, %s: tensor<3x9xf32>) {
  // expected-error@+1 {{'qnn.non_max_suppression' op (C3) result shape: got [2, 5], expected [3, 5]}}
  %result = "qnn.non_max_suppression"(%b, %s) {score_threshold = 0.5 : f32, iou_threshold = 0.6 : f32}
      : (tensor<9x4xf32>, tensor<3x9xf32>) -> tensor<2x5xi32>
  return
}

// -----

func.func @non_max_suppression_c4_nan(%b: tensor<9x4xf32>, %s: tensor<3x9xf32>) {
  // expected-error@+1 {{'qnn.non_max_suppression' op (C4) score_threshold: got nan, expected a number}}
  %result = "qnn.non_max_suppression"(%b, %s) {score_threshold = 0x7FC00000 : f32, iou_threshold = 0.6 : f32}
      : (tensor<9x4xf32>, tensor<3x9xf32>) -> tensor<3x5xi32>
  return
}

// -----

func.func @non_max_suppression_c4_overlap(%b: tensor<9x4xf32>, %s: tensor<3x9xf32>) {
  // expected-error@+1 {{'qnn.non_max_suppression' op (C4) iou_threshold: got 0.0, expected more than 0 and at most 1}}
  %result = "qnn.non_max_suppression"(%b, %s) {score_threshold = 0.5 : f32, iou_threshold = 0.0 : f32}
      : (tensor<9x4xf32>, tensor<3x9xf32>) -> tensor<3x5xi32>
  return
}
