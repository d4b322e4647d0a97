// RUN: qopt %s -p fold-requantize-into-producer --split-input-file | %filecheck
// RUN: qopt %s -p fold-requantize-into-producer --split-input-file --explain -o /dev/null 2>&1 | %filecheck --check-prefix=WHY
// RUN: qopt %s -p fold-requantize-into-producer{allow-inexact=true} --split-input-file | %filecheck --check-prefix=INEXACT

!x = !quant.uniform<i8:f32, 5.0e-01:3>
!w = !quant.uniform<i8:f32, 1.0e-02>
!q = !quant.uniform<i8:f32, 5.0e-01:3>
!q_unsigned = !quant.uniform<u8:f32, 5.0e-01:131>
!finer = !quant.uniform<i8:f32, 2.5e-01:-1>
!coarser = !quant.uniform<i8:f32, 1.0:3>

// The finer type has half the range: what it saturates at, nothing else matters.
// CHECK-LABEL: func.func @fold_into_fully_connected(
// CHECK-NEXT:    %[[Y:.+]] = "qnn.fully_connected"(%{{.+}}, %{{.+}}) {clamp = array<f32>, {{.*}} -> tensor<1x2x!quant.uniform<i8:f32, 2.500000e-01:-1>>
// CHECK-NEXT:    return %[[Y]]
func.func @fold_into_fully_connected(%x: tensor<1x4x!x>, %w: tensor<2x4x!w>) -> tensor<1x2x!finer> {
  %0 = "qnn.fully_connected"(%x, %w) {clamp = array<f32>, operandSegmentSizes = array<i32: 1, 1, 0>}
    : (tensor<1x4x!x>, tensor<2x4x!w>) -> tensor<1x2x!q>
  %1 = "qnn.requantize"(%0) {qnn.inserted = "same-as-result"} : (tensor<1x2x!q>) -> tensor<1x2x!finer>
  return %1 : tensor<1x2x!finer>
}

// The coarser type has twice the range: the old limits, (-128 - 3) / 2 and (127 - 3) / 2, stay as a clamp (on its grid).
// CHECK-LABEL: func.func @fold_and_keep_limits(
// CHECK-NEXT:    "qnn.conv2d"(%{{.+}}, %{{.+}}) {clamp = array<f32: -6.500000e+01, 6.200000e+01>, {{.*}} -> tensor<1x4x4x2x!quant.uniform<i8:f32, 1.000000e+00:3>>
// CHECK-NEXT:    return
func.func @fold_and_keep_limits(%x: tensor<1x4x4x3x!x>, %w: tensor<2x1x1x3x!w>) -> tensor<1x4x4x2x!coarser> {
  %0 = "qnn.conv2d"(%x, %w) {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding = array<i64: 0, 0, 0, 0>,
    groups = 1 : i64, clamp = array<f32>, operandSegmentSizes = array<i32: 1, 1, 0>}
    : (tensor<1x4x4x3x!x>, tensor<2x1x1x3x!w>) -> tensor<1x4x4x2x!q>
  %1 = "qnn.requantize"(%0) {qnn.inserted = "same-as-result"} : (tensor<1x4x4x2x!q>) -> tensor<1x4x4x2x!coarser>
  return %1 : tensor<1x4x4x2x!coarser>
}

// A real clamp inside both ranges stays as it is.
// CHECK-LABEL: func.func @fold_and_keep_clamp(
// CHECK-NEXT:    "qnn.add"(%{{.+}}, %{{.+}}) {clamp = array<f32: 0.000000e+00, 6.000000e+00>} {{.*}} -> tensor<4x!quant.uniform<i8:f32, 1.000000e+00:3>>
// CHECK-NEXT:    return
func.func @fold_and_keep_clamp(%x: tensor<4x!x>, %y: tensor<4x!x>) -> tensor<4x!coarser> {
  %0 = "qnn.add"(%x, %y) {clamp = array<f32: 0.0, 6.0>} : (tensor<4x!x>, tensor<4x!x>) -> tensor<4x!q>
  %1 = "qnn.requantize"(%0) {qnn.inserted = "same-as-result"} : (tensor<4x!q>) -> tensor<4x!coarser>
  return %1 : tensor<4x!coarser>
}

// Relabelling is exact, so it needs no mark.
// CHECK-LABEL: func.func @fold_relabelling(
// CHECK-NEXT:    "qnn.mul"{{.*}} -> tensor<4x!quant.uniform<u8:f32, 5.000000e-01:131>>
// CHECK-NEXT:    return
func.func @fold_relabelling(%x: tensor<4x!x>, %y: tensor<4x!x>) -> tensor<4x!q_unsigned> {
  %0 = "qnn.mul"(%x, %y) {clamp = array<f32>} : (tensor<4x!x>, tensor<4x!x>) -> tensor<4x!q>
  %1 = "qnn.requantize"(%0) : (tensor<4x!q>) -> tensor<4x!q_unsigned>
  return %1 : tensor<4x!q_unsigned>
}

// A mean stays within its input's range, which the old result covers: no limit is lost.
// CHECK-LABEL: func.func @fold_into_mean(
// CHECK-NEXT:    "qnn.mean"{{.*}} -> tensor<1x3x!quant.uniform<i8:f32, 1.000000e+00:3>>
// CHECK-NEXT:    return
func.func @fold_into_mean(%x: tensor<1x4x4x3x!x>) -> tensor<1x3x!coarser> {
  %0 = "qnn.mean"(%x) {axes = array<i64: 1, 2>, keep_dims = false} : (tensor<1x4x4x3x!x>) -> tensor<1x3x!q>
  %1 = "qnn.requantize"(%0) {qnn.inserted = "same-as-result"} : (tensor<1x3x!q>) -> tensor<1x3x!coarser>
  return %1 : tensor<1x3x!coarser>
}

// A pool that keeps its parameters rounds before the requantize and does the same with it inside.
// CHECK-LABEL: func.func @fold_into_avg_pool2d(
// CHECK-NEXT:    "qnn.avg_pool2d"{{.*}} -> tensor<1x3x3x3x!quant.uniform<i8:f32, 2.500000e-01:-1>>
// CHECK-NEXT:    return
func.func @fold_into_avg_pool2d(%x: tensor<1x4x4x3x!q>) -> tensor<1x3x3x3x!finer> {
  %0 = "qnn.avg_pool2d"(%x) {window = array<i64: 2, 2>, strides = array<i64: 1, 1>, padding = array<i64: 0, 0, 0, 0>, clamp = array<f32>}
    : (tensor<1x4x4x3x!q>) -> tensor<1x3x3x3x!q>
  %1 = "qnn.requantize"(%0) : (tensor<1x3x3x3x!q>) -> tensor<1x3x3x3x!finer>
  return %1 : tensor<1x3x3x3x!finer>
}

// Nobody forced this requantize, and it rounds.
// WHY:           no match: qnn.requantize {{.*}} would lose a rounding step: the requantize is not marked qnn.inserted
// CHECK-LABEL:   func.func @keep_users_own(
// CHECK:           qnn.requantize
// INEXACT-LABEL: func.func @keep_users_own(
// INEXACT-NEXT:    "qnn.mul"{{.*}} -> tensor<4x!quant.uniform<i8:f32, 2.500000e-01:-1>>
// INEXACT-NEXT:    return
func.func @keep_users_own(%x: tensor<4x!x>, %y: tensor<4x!x>) -> tensor<4x!finer> {
  %0 = "qnn.mul"(%x, %y) {clamp = array<f32>} : (tensor<4x!x>, tensor<4x!x>) -> tensor<4x!q>
  %1 = "qnn.requantize"(%0) : (tensor<4x!q>) -> tensor<4x!finer>
  return %1 : tensor<4x!finer>
}

// The result before the requantize is used as well.
// WHY:         no match: qnn.requantize {{.*}} qnn.mul has other users
// CHECK-LABEL: func.func @keep_for_other_user(
// CHECK:         qnn.requantize
func.func @keep_for_other_user(%x: tensor<4x!x>, %y: tensor<4x!x>) -> (tensor<4x!q>, tensor<4x!finer>) {
  %0 = "qnn.mul"(%x, %y) {clamp = array<f32>} : (tensor<4x!x>, tensor<4x!x>) -> tensor<4x!q>
  %1 = "qnn.requantize"(%0) {qnn.inserted = "same-as-result"} : (tensor<4x!q>) -> tensor<4x!finer>
  return %0, %1 : tensor<4x!q>, tensor<4x!finer>
}

// Floats beyond the finer type's range are saturated there; a quantize cannot say so.
// WHY:         no match: qnn.requantize {{.*}} the present result saturates at [-31.75, 32], which is less than [-65.5, 62], and qnn.quantize has no clamp to say so
// CHECK-LABEL: func.func @keep_limits_of_quantize(
// CHECK:         qnn.requantize
func.func @keep_limits_of_quantize(%x: tensor<4xf32>) -> tensor<4x!q> {
  %0 = "qnn.quantize"(%x) : (tensor<4xf32>) -> tensor<4x!finer>
  %1 = "qnn.requantize"(%0) {qnn.inserted = "same-as-result"} : (tensor<4x!finer>) -> tensor<4x!q>
  return %1 : tensor<4x!q>
}

// A reshape would do the requantize's work behind its name.
// WHY:         no match: qnn.requantize {{.*}} qnn.reshape only copies values
// CHECK-LABEL: func.func @keep_after_reshape(
// CHECK:         qnn.requantize
func.func @keep_after_reshape(%x: tensor<4x!q>) -> tensor<2x2x!finer> {
  %0 = "qnn.reshape"(%x) : (tensor<4x!q>) -> tensor<2x2x!q>
  %1 = "qnn.requantize"(%0) {qnn.inserted = "same-as-result"} : (tensor<2x2x!q>) -> tensor<2x2x!finer>
  return %1 : tensor<2x2x!finer>
}

// WHY:         no match: qnn.requantize {{.*}} the input is an argument
// CHECK-LABEL: func.func @keep_argument(
// CHECK:         qnn.requantize
func.func @keep_argument(%x: tensor<4x!q>) -> tensor<4x!finer> {
  %0 = "qnn.requantize"(%x) {qnn.inserted = "same-as-result"} : (tensor<4x!q>) -> tensor<4x!finer>
  return %0 : tensor<4x!finer>
}

// An element-wise op gives results as wide as its operands.
// WHY:         no match: qnn.requantize {{.*}} (C2) storage types must be equally wide
// CHECK-LABEL: func.func @keep_what_the_op_cannot_give(
// CHECK:         qnn.requantize
func.func @keep_what_the_op_cannot_give(%x: tensor<4x!x>, %y: tensor<4x!x>) -> tensor<4x!quant.uniform<i16:f32, 1.0e-02>> {
  %0 = "qnn.mul"(%x, %y) {clamp = array<f32>} : (tensor<4x!x>, tensor<4x!x>) -> tensor<4x!q>
  %1 = "qnn.requantize"(%0) {qnn.inserted = "same-as-result"} : (tensor<4x!q>) -> tensor<4x!quant.uniform<i16:f32, 1.0e-02>>
  return %1 : tensor<4x!quant.uniform<i16:f32, 1.0e-02>>
}

// With a scale this fine the multiplier is 2^13: accumulators would leave their 32 bits before they saturate.
// WHY:         no match: qnn.requantize {{.*}} would shift the accumulator out of its 32 bits
// CHECK-LABEL: func.func @keep_wide_accumulator(
// CHECK:         qnn.requantize
func.func @keep_wide_accumulator(%x: tensor<1x4x4x3x!x>, %w: tensor<2x1x1x3x!w>) -> tensor<1x4x4x2x!quant.uniform<i8:f32, 6.1e-07>> {
  %0 = "qnn.conv2d"(%x, %w) {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding = array<i64: 0, 0, 0, 0>,
    groups = 1 : i64, clamp = array<f32>, operandSegmentSizes = array<i32: 1, 1, 0>}
    : (tensor<1x4x4x3x!x>, tensor<2x1x1x3x!w>) -> tensor<1x4x4x2x!q>
  %1 = "qnn.requantize"(%0) {qnn.inserted = "same-as-result"} : (tensor<1x4x4x2x!q>) -> tensor<1x4x4x2x!quant.uniform<i8:f32, 6.1e-07>>
  return %1 : tensor<1x4x4x2x!quant.uniform<i8:f32, 6.1e-07>>
}

// -----

!q = !quant.uniform<i8:f32, 5.0e-01:3>
!finer = !quant.uniform<i8:f32, 2.5e-01:-1>

module attributes {qnn.target = "tflite"} {
// TFLite's avg_pool2d has no multiplier of its own.
// WHY:         no match: qnn.requantize {{.*}} rule 'same-as-input' of target tflite ({{.*}}tflite.toml:{{[0-9]+}}) wants
// CHECK-LABEL: func.func @keep_rule(
// CHECK:         qnn.requantize
func.func @keep_rule(%x: tensor<1x4x4x3x!q>) -> tensor<1x3x3x3x!finer> {
  %0 = "qnn.avg_pool2d"(%x) {window = array<i64: 2, 2>, strides = array<i64: 1, 1>, padding = array<i64: 0, 0, 0, 0>, clamp = array<f32>}
    : (tensor<1x4x4x3x!q>) -> tensor<1x3x3x3x!q>
  %1 = "qnn.requantize"(%0) {qnn.inserted = "same-as-input"} : (tensor<1x3x3x3x!q>) -> tensor<1x3x3x3x!finer>
  return %1 : tensor<1x3x3x3x!finer>
}
}
