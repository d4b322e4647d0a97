// RUN: qopt %s -p merge-clamps | %filecheck
// RUN: qopt %s -p merge-clamps --explain -o /dev/null 2>&1 | %filecheck --check-prefix=WHY

!q = !quant.uniform<i8:f32, 5.0e-01:3>
!w = !quant.uniform<i8:f32, 1.0e-02>
!relu6 = !quant.uniform<i8:f32, 0.0235294122:-128>
!wide = !quant.uniform<i16:f32, 1.0e-03>

// CHECK-LABEL: func.func @merge_into_conv2d(
// CHECK-NEXT:    %[[Y:.+]] = "qnn.conv2d"(%{{.+}}, %{{.+}}) {clamp = array<f32: 0.000000e+00, 6.000000e+00>
// CHECK-NEXT:    return %[[Y]]
func.func @merge_into_conv2d(%x: tensor<1x4x4x3x!q>, %w: tensor<2x1x1x3x!w>) -> tensor<1x4x4x2x!q> {
  %0 = "qnn.conv2d"(%x, %w) {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding = array<i64: 0, 0, 0, 0>,
    groups = 1 : i64, clamp = array<f32>, operandSegmentSizes = array<i32: 1, 1, 0>}
    : (tensor<1x4x4x3x!q>, tensor<2x1x1x3x!w>) -> tensor<1x4x4x2x!q>
  %1 = "qnn.clamp"(%0) {clamp = array<f32: 0.0, 6.0>} : (tensor<1x4x4x2x!q>) -> tensor<1x4x4x2x!q>
  return %1 : tensor<1x4x4x2x!q>
}

// Floats, and what both bounds let through.
// CHECK-LABEL: func.func @merge_float(
// CHECK-NEXT:    "qnn.add"(%{{.+}}, %{{.+}}) {clamp = array<f32: 0.000000e+00, 4.000000e+00>}
// CHECK-NEXT:    return
func.func @merge_float(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "qnn.add"(%x, %y) {clamp = array<f32: -1.0, 4.0>} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %1 = "qnn.clamp"(%0) {clamp = array<f32: 0.0, 6.0>} : (tensor<4xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}

// Bounds that do not overlap leave the later one's nearest value.
// CHECK-LABEL: func.func @merge_disjoint(
// CHECK-NEXT:    "qnn.clamp"(%{{.+}}) {clamp = array<f32: 4.000000e+00, 4.000000e+00>}
// CHECK-NEXT:    return
func.func @merge_disjoint(%x: tensor<4x!q>) -> tensor<4x!q> {
  %0 = "qnn.clamp"(%x) {clamp = array<f32: 0.0, 2.0>} : (tensor<4x!q>) -> tensor<4x!q>
  %1 = "qnn.clamp"(%0) {clamp = array<f32: 4.0, 6.0>} : (tensor<4x!q>) -> tensor<4x!q>
  return %1 : tensor<4x!q>
}

// Clamp of clamp, the second to other parameters: every stored value ends the same.
// CHECK-LABEL: func.func @merge_and_rescale(
// CHECK-NEXT:    "qnn.clamp"(%{{.+}}) {clamp = array<f32: 0.000000e+00, 6.000000e+00>} : {{.*}} -> tensor<4x!quant.uniform<i8:f32, 0.023529{{[0-9]+}}:-128>>
// CHECK-NEXT:    return
func.func @merge_and_rescale(%x: tensor<4x!q>) -> tensor<4x!relu6> {
  %0 = "qnn.clamp"(%x) {clamp = array<f32: 0.0, 0x7F800000>} : (tensor<4x!q>) -> tensor<4x!q>
  %1 = "qnn.clamp"(%0) {clamp = array<f32: -10.0, 6.0>} : (tensor<4x!q>) -> tensor<4x!relu6>
  return %1 : tensor<4x!relu6>
}

// No stored value is below -65.5 or above 62.
// CHECK-LABEL: func.func @drop_idle(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor
// CHECK-NEXT:    return %[[X]]
func.func @drop_idle(%x: tensor<4x!q>) -> tensor<4x!q> {
  %0 = "qnn.clamp"(%x) {clamp = array<f32: -70.0, 62.0>} : (tensor<4x!q>) -> tensor<4x!q>
  return %0 : tensor<4x!q>
}

// WHY:         merge: no match: qnn.clamp {{.*}} it changes the parameters, and qnn.mul rounds before it does
// CHECK-LABEL: func.func @keep_rescaling_clamp(
// CHECK-NEXT:    qnn.mul
// CHECK-NEXT:    qnn.clamp
func.func @keep_rescaling_clamp(%x: tensor<4x!q>, %y: tensor<4x!q>) -> tensor<4x!relu6> {
  %0 = "qnn.mul"(%x, %y) {clamp = array<f32>} : (tensor<4x!q>, tensor<4x!q>) -> tensor<4x!q>
  %1 = "qnn.clamp"(%0) {clamp = array<f32: 0.0, 6.0>} : (tensor<4x!q>) -> tensor<4x!relu6>
  return %1 : tensor<4x!relu6>
}

// What lies between is rounded to the coarser parameters.
// WHY:         merge: no match: qnn.clamp {{.*}} of 256 stored values would differ
// CHECK-LABEL: func.func @keep_rounding_between(
// CHECK-COUNT-2: qnn.clamp
func.func @keep_rounding_between(%x: tensor<4x!relu6>) -> tensor<4x!relu6> {
  %0 = "qnn.clamp"(%x) {clamp = array<f32: 0.0, 5.0>} : (tensor<4x!relu6>) -> tensor<4x!q>
  %1 = "qnn.clamp"(%0) {clamp = array<f32: 0.0, 6.0>} : (tensor<4x!q>) -> tensor<4x!relu6>
  return %1 : tensor<4x!relu6>
}

// WHY:         merge: no match: qnn.clamp {{.*}} qnn.add has other users
// CHECK-LABEL: func.func @keep_for_other_user(
// CHECK-NEXT:    qnn.add
// CHECK-NEXT:    qnn.clamp
func.func @keep_for_other_user(%x: tensor<4x!q>, %y: tensor<4x!q>) -> (tensor<4x!q>, tensor<4x!q>) {
  %0 = "qnn.add"(%x, %y) {clamp = array<f32>} : (tensor<4x!q>, tensor<4x!q>) -> tensor<4x!q>
  %1 = "qnn.clamp"(%0) {clamp = array<f32: 0.0, 6.0>} : (tensor<4x!q>) -> tensor<4x!q>
  return %0, %1 : tensor<4x!q>, tensor<4x!q>
}

// WHY:         merge: no match: qnn.clamp {{.*}} the op before has no clamp
// CHECK-LABEL: func.func @keep_after_mean(
// CHECK-NEXT:    qnn.mean
// CHECK-NEXT:    qnn.clamp
func.func @keep_after_mean(%x: tensor<2x4x!q>) -> tensor<2x!q> {
  %0 = "qnn.mean"(%x) {axes = array<i64: 1>, keep_dims = false} : (tensor<2x4x!q>) -> tensor<2x!q>
  %1 = "qnn.clamp"(%0) {clamp = array<f32: 0.0, 6.0>} : (tensor<2x!q>) -> tensor<2x!q>
  return %1 : tensor<2x!q>
}
