// The demonstration's engine has no mul, sub, mean, activations, and nothing of 16 bits.
// RUN: qopt %s -p 'isolate-unsupported{target=float-islands-demo}' --split-input-file | %filecheck

!q = !quant.uniform<i8:f32, 5.0e-01:3>
!r = !quant.uniform<u8:f32, 2.5e-01:100>

// Constants become float now, values when it runs.
// CHECK-LABEL: func.func @isolate_op(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor
// CHECK:         %[[FLOAT:[0-9]+]] = "qnn.dequantize"(%[[X]]) {qnn.inserted = "unsupported"}
// CHECK-NOT:     i8>
// CHECK:         %[[C:[0-9]+]] = "qnn.constant"() {value = dense<[-1.500000e+00, -1.000000e+00, 5.000000e-01, -6.550000e+01]> : tensor<4xf32>}
// CHECK:         %[[Y:[0-9]+]] = "qnn.mul"(%[[FLOAT]], %[[C]]) {clamp = array<f32: 0.000000e+00, 0x7F800000>}
// CHECK-SAME:      (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// CHECK:         %[[RESULT:[0-9]+]] = "qnn.quantize"(%[[Y]]) {qnn.inserted = "unsupported"}
// CHECK-SAME:      -> tensor<4x!quant.uniform<u8:f32, 2.500000e-01:100>>
// CHECK:         return %[[RESULT]]
func.func @isolate_op(%x: tensor<4x!q>) -> tensor<4x!r> {
  %c = "qnn.constant"() {value = dense<[0, 1, 4, -128]> : tensor<4xi8>} : () -> tensor<4x!q>
  %y = "qnn.mul"(%x, %c) {clamp = array<f32: 0.0, 0x7F800000>} : (tensor<4x!q>, tensor<4x!q>) -> tensor<4x!r>
  return %y : tensor<4x!r>
}

// -----
// Filters and biases have a scale per channel.

!q = !quant.uniform<i8:f32, 5.0e-01:3>
!w = !quant.uniform<i8:f32:0, {5.0e-01, 2.5e-01}>
!b = !quant.uniform<i32:f32:0, {2.5e-01, 1.25e-01}>
!wide = !quant.uniform<i16:f32, 1.0e-03>

// CHECK-LABEL: func.func @isolate_contraction(
// CHECK:         "qnn.dequantize"
// CHECK-DAG:     %[[W:[0-9]+]] = "qnn.constant"() {value = dense<{{\[}}[5.000000e-01, 1.000000e+00], [7.500000e-01, 1.000000e+00]]> : tensor<2x2xf32>}
// CHECK-DAG:     %[[B:[0-9]+]] = "qnn.constant"() {value = dense<[2.500000e+00, 3.750000e+00]> : tensor<2xf32>}
// CHECK:         "qnn.fully_connected"(%{{[0-9]+}}, %[[W]], %[[B]])
// CHECK-SAME:      (tensor<1x2xf32>, tensor<2x2xf32>, tensor<2xf32>) -> tensor<1x2xf32>
// CHECK:         "qnn.quantize"
// CHECK-SAME:      -> tensor<1x2x!quant.uniform<i16:f32, 1.000000e-03>>
func.func @isolate_contraction(%x: tensor<1x2x!q>) -> tensor<1x2x!wide> {
  %w = "qnn.constant"() {value = dense<[[1, 2], [3, 4]]> : tensor<2x2xi8>} : () -> tensor<2x2x!w>
  %b = "qnn.constant"() {value = dense<[10, 30]> : tensor<2xi32>} : () -> tensor<2x!b>
  %y = "qnn.fully_connected"(%x, %w, %b) {clamp = array<f32>, operandSegmentSizes = array<i32: 1, 1, 1>} : (tensor<1x2x!q>, tensor<2x2x!w>, tensor<2x!b>) -> tensor<1x2x!wide>
  return %y : tensor<1x2x!wide>
}

// -----
// Neighbours share an island: no rounding in between, but the range of the quantized type is a clamp.

!q = !quant.uniform<i8:f32, 5.0e-01:3>
!r = !quant.uniform<i8:f32, 2.5e-01:-128>

// CHECK-LABEL: func.func @merge_neighbours(
// CHECK:         %[[X:[0-9]+]] = "qnn.dequantize"
// CHECK:         %[[MEAN:[0-9]+]] = "qnn.mean"(%[[X]])
// CHECK:         %[[CLAMPED:[0-9]+]] = "qnn.clamp"(%[[MEAN]]) {clamp = array<f32: 0.000000e+00, 6.375000e+01>, qnn.inserted = "unsupported"}
// CHECK:         %[[Y:[0-9]+]] = "qnn.tanh"(%[[CLAMPED]])
// CHECK:         %[[RESULT:[0-9]+]] = "qnn.quantize"(%[[Y]])
// CHECK:         return %[[RESULT]]
func.func @merge_neighbours(%x: tensor<2x4x!q>) -> tensor<2x!q> {
  %m = "qnn.mean"(%x) {axes = array<i64: 1>, keep_dims = false} : (tensor<2x4x!q>) -> tensor<2x!r>
  %y = "qnn.tanh"(%m) : (tensor<2x!r>) -> tensor<2x!q>
  return %y : tensor<2x!q>
}

// -----
// An op with a fused clamp takes the range into it.

!q = !quant.uniform<i8:f32, 5.0e-01:3>

// CHECK-LABEL: func.func @merge_into_fused_clamp(
// CHECK:         "qnn.sub"({{.*}}) {clamp = array<f32: 0.000000e+00, 6.200000e+01>}
// CHECK-NOT:     qnn.clamp
// CHECK:         "qnn.tanh"
func.func @merge_into_fused_clamp(%x: tensor<4x!q>, %y: tensor<4x!q>) -> tensor<4x!q> {
  %d = "qnn.sub"(%x, %y) {clamp = array<f32: 0.0, 0x7F800000>} : (tensor<4x!q>, tensor<4x!q>) -> tensor<4x!q>
  %t = "qnn.tanh"(%d) : (tensor<4x!q>) -> tensor<4x!q>
  return %t : tensor<4x!q>
}

// -----
// One dequantize for two readers; a user outside of the island reads a quantized value.

!q = !quant.uniform<i8:f32, 5.0e-01:3>

// CHECK-LABEL: func.func @share_values(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor
// CHECK:         %[[FLOAT:[0-9]+]] = "qnn.dequantize"(%[[X]])
// CHECK-NOT:     qnn.dequantize
// CHECK:         %[[T:[0-9]+]] = "qnn.tanh"(%[[FLOAT]])
// CHECK:         %[[CLAMPED:[0-9]+]] = "qnn.clamp"(%[[T]])
// CHECK:         %[[Q:[0-9]+]] = "qnn.quantize"(%[[CLAMPED]])
// CHECK:         "qnn.mul"(%[[CLAMPED]], %[[FLOAT]])
// CHECK:         "qnn.add"(%[[Q]], %[[X]])
func.func @share_values(%x: tensor<4x!q>) -> (tensor<4x!q>, tensor<4x!q>) {
  %t = "qnn.tanh"(%x) : (tensor<4x!q>) -> tensor<4x!q>
  %m = "qnn.mul"(%t, %x) {clamp = array<f32>} : (tensor<4x!q>, tensor<4x!q>) -> tensor<4x!q>
  %a = "qnn.add"(%t, %x) {clamp = array<f32>} : (tensor<4x!q>, tensor<4x!q>) -> tensor<4x!q>
  return %m, %a : tensor<4x!q>, tensor<4x!q>
}

// -----
// What only moves values between two islands moves floats: they are one.

!q = !quant.uniform<i8:f32, 5.0e-01:3>

// CHECK-LABEL: func.func @merge_across_moves(
// CHECK:         "qnn.dequantize"
// CHECK:         "qnn.tanh"
// CHECK:         "qnn.reshape"({{.*}}) : (tensor<2x3xf32>) -> tensor<3x2xf32>
// CHECK:         "qnn.transpose"({{.*}}) {{.*}} : (tensor<3x2xf32>) -> tensor<2x3xf32>
// CHECK-NOT:     {{qnn.quantize|qnn.dequantize}}
// CHECK:         "qnn.logistic"
// CHECK:         "qnn.quantize"
func.func @merge_across_moves(%x: tensor<2x3x!q>) -> tensor<2x3x!q> {
  %t = "qnn.tanh"(%x) : (tensor<2x3x!q>) -> tensor<2x3x!q>
  %s = "qnn.reshape"(%t) : (tensor<2x3x!q>) -> tensor<3x2x!q>
  %m = "qnn.transpose"(%s) {permutation = array<i64: 1, 0>} : (tensor<3x2x!q>) -> tensor<2x3x!q>
  %y = "qnn.logistic"(%m) : (tensor<2x3x!q>) -> tensor<2x3x!q>
  return %y : tensor<2x3x!q>
}

// -----
// Beside an island, but not between two: bytes are cheaper to move.

!q = !quant.uniform<i8:f32, 5.0e-01:3>

// CHECK-LABEL: func.func @keep_moves_at_the_border(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor
// CHECK:         %[[S:[0-9]+]] = "qnn.reshape"(%[[X]]) : (tensor<2x3x!quant
// CHECK:         "qnn.dequantize"(%[[S]])
// CHECK:         %[[Q:[0-9]+]] = "qnn.quantize"
// CHECK:         "qnn.reshape"(%[[Q]])
func.func @keep_moves_at_the_border(%x: tensor<2x3x!q>) -> tensor<2x3x!q> {
  %s = "qnn.reshape"(%x) : (tensor<2x3x!q>) -> tensor<3x2x!q>
  %t = "qnn.tanh"(%s) : (tensor<3x2x!q>) -> tensor<3x2x!q>
  %y = "qnn.reshape"(%t) : (tensor<3x2x!q>) -> tensor<2x3x!q>
  return %y : tensor<2x3x!q>
}

// -----
// The engine adds, and tells which is largest.

!q = !quant.uniform<i8:f32, 5.0e-01:3>

// CHECK-LABEL: func.func @keep_supported(
// CHECK-NOT:     xf32>
// CHECK:         return
func.func @keep_supported(%x: tensor<2x3x!q>) -> tensor<2xi32> {
  %s = "qnn.add"(%x, %x) {clamp = array<f32>} : (tensor<2x3x!q>, tensor<2x3x!q>) -> tensor<2x3x!q>
  %y = "qnn.arg_max"(%s) {axis = 1 : i64} : (tensor<2x3x!q>) -> tensor<2xi32>
  return %y : tensor<2xi32>
}

// -----
// The user's own float ops and conversions are not ours.

!q = !quant.uniform<i8:f32, 5.0e-01:3>

// CHECK-LABEL: func.func @keep_float(
// CHECK-NOT:     qnn.inserted
// CHECK:         return
func.func @keep_float(%x: tensor<4xf32>) -> tensor<4xf32> {
  %t = "qnn.tanh"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %q = "qnn.quantize"(%t) : (tensor<4xf32>) -> tensor<4x!q>
  %y = "qnn.dequantize"(%q) : (tensor<4x!q>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}
