// RUN: qopt %s -p hoist-requantize --split-input-file | %filecheck
// RUN: qopt %s -p hoist-requantize{larger=true} --split-input-file | %filecheck --check-prefix=LARGER
// RUN: qopt %s -p hoist-requantize --split-input-file --explain -o /dev/null 2>&1 | %filecheck --check-prefix=WHY

!q = !quant.uniform<i8:f32, 5.0e-01:3>
!r = !quant.uniform<i8:f32, 2.5e-01:-1>
!odd = !quant.uniform<i8:f32, 3.0e-01:-7>

// As far up as it goes; the mark goes along.
// CHECK-LABEL: func.func @hoist_above_moves(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor
// CHECK-NEXT:    %[[R:.+]] = "qnn.requantize"(%[[X]]) {qnn.inserted = "same-as-result"}
// CHECK-NEXT:    %[[A:.+]] = "qnn.reshape"(%[[R]]) : (tensor<2x3x!quant.uniform<i8:f32, 2.500000e-01:-1>>) -> tensor<3x2x!quant.uniform<i8:f32, 2.500000e-01:-1>>
// CHECK-NEXT:    %[[B:.+]] = "qnn.transpose"(%[[A]])
// CHECK-NEXT:    return %[[B]]
func.func @hoist_above_moves(%x: tensor<2x3x!q>) -> tensor<2x3x!r> {
  %0 = "qnn.reshape"(%x) : (tensor<2x3x!q>) -> tensor<3x2x!q>
  %1 = "qnn.transpose"(%0) {permutation = array<i64: 1, 0>} : (tensor<3x2x!q>) -> tensor<2x3x!q>
  %2 = "qnn.requantize"(%1) {qnn.inserted = "same-as-result"} : (tensor<2x3x!q>) -> tensor<2x3x!r>
  return %2 : tensor<2x3x!r>
}

// The zero point becomes the other zero point, and there is less to requantize before a pad.
// CHECK-LABEL: func.func @hoist_above_pad(
// CHECK-NEXT:    qnn.requantize
// CHECK-NEXT:    qnn.pad
// CHECK-NEXT:    return
func.func @hoist_above_pad(%x: tensor<4x!q>) -> tensor<6x!r> {
  %0 = "qnn.pad"(%x) {low = array<i64: 1>, high = array<i64: 1>, value = 0.0 : f32} : (tensor<4x!q>) -> tensor<6x!q>
  %1 = "qnn.requantize"(%0) : (tensor<6x!q>) -> tensor<6x!r>
  return %1 : tensor<6x!r>
}

// CHECK-LABEL: func.func @hoist_above_resize_nearest(
// CHECK-NEXT:    qnn.requantize
// CHECK-NEXT:    qnn.resize_nearest
// CHECK-NEXT:    return
func.func @hoist_above_resize_nearest(%x: tensor<1x2x2x1x!q>) -> tensor<1x4x4x1x!r> {
  %0 = "qnn.resize_nearest"(%x) {align_corners = false, half_pixel_centers = false} : (tensor<1x2x2x1x!q>) -> tensor<1x4x4x1x!q>
  %1 = "qnn.requantize"(%0) : (tensor<1x4x4x1x!q>) -> tensor<1x4x4x1x!r>
  return %1 : tensor<1x4x4x1x!r>
}

// The parts of a split that cover it: one requantize of the whole.
// CHECK-LABEL: func.func @hoist_above_split(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor
// CHECK-NEXT:    %[[R:.+]] = "qnn.requantize"(%[[X]])
// CHECK-NEXT:    %[[A:.+]] = "qnn.slice"(%[[R]]) {offsets = array<i64: 0>
// CHECK-NEXT:    %[[B:.+]] = "qnn.slice"(%[[R]]) {offsets = array<i64: 2>
// CHECK-NEXT:    return %[[B]], %[[A]]
func.func @hoist_above_split(%x: tensor<4x!q>) -> (tensor<2x!r>, tensor<2x!r>) {
  %0 = "qnn.slice"(%x) {offsets = array<i64: 0>, sizes = array<i64: 2>, strides = array<i64: 1>} : (tensor<4x!q>) -> tensor<2x!q>
  %1 = "qnn.slice"(%x) {offsets = array<i64: 2>, sizes = array<i64: 2>, strides = array<i64: 1>} : (tensor<4x!q>) -> tensor<2x!q>
  %2 = "qnn.requantize"(%1) : (tensor<2x!q>) -> tensor<2x!r>
  %3 = "qnn.requantize"(%0) : (tensor<2x!q>) -> tensor<2x!r>
  return %2, %3 : tensor<2x!r>, tensor<2x!r>
}

// The whole is requantized anyway, if only later.
// CHECK-LABEL: func.func @hoist_to_share(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor
// CHECK-NEXT:    %[[R:.+]] = "qnn.requantize"(%[[X]])
// CHECK-NEXT:    %[[A:.+]] = "qnn.slice"(%[[R]])
// CHECK-NEXT:    return %[[A]], %[[R]]
func.func @hoist_to_share(%x: tensor<4x!q>) -> (tensor<2x!r>, tensor<4x!r>) {
  %0 = "qnn.slice"(%x) {offsets = array<i64: 0>, sizes = array<i64: 2>, strides = array<i64: 1>} : (tensor<4x!q>) -> tensor<2x!q>
  %1 = "qnn.requantize"(%0) : (tensor<2x!q>) -> tensor<2x!r>
  %2 = "qnn.requantize"(%x) : (tensor<4x!q>) -> tensor<4x!r>
  return %1, %2 : tensor<2x!r>, tensor<4x!r>
}

// A part alone is smaller than the whole.
// WHY:          hoist: no match: qnn.requantize {{.*}} the input of qnn.slice is larger than its result
// CHECK-LABEL:  func.func @keep_below_slice(
// CHECK-NEXT:     qnn.slice
// CHECK-NEXT:     qnn.requantize
// LARGER-LABEL: func.func @keep_below_slice(
// LARGER-NEXT:    qnn.requantize
// LARGER-NEXT:    qnn.slice
// LARGER-NEXT:    return
func.func @keep_below_slice(%x: tensor<4x!q>) -> tensor<2x!r> {
  %0 = "qnn.slice"(%x) {offsets = array<i64: 0>, sizes = array<i64: 2>, strides = array<i64: 1>} : (tensor<4x!q>) -> tensor<2x!q>
  %1 = "qnn.requantize"(%0) : (tensor<2x!q>) -> tensor<2x!r>
  return %1 : tensor<2x!r>
}

// Larger values stay larger, but it would be four times the work.
// CHECK-LABEL:  func.func @keep_below_max_pool2d(
// CHECK-NEXT:     qnn.max_pool2d
// CHECK-NEXT:     qnn.requantize
// LARGER-LABEL: func.func @keep_below_max_pool2d(
// LARGER-NEXT:    qnn.requantize
// LARGER-NEXT:    qnn.max_pool2d
func.func @keep_below_max_pool2d(%x: tensor<1x4x4x1x!q>) -> tensor<1x2x2x1x!r> {
  %0 = "qnn.max_pool2d"(%x) {window = array<i64: 2, 2>, strides = array<i64: 2, 2>, padding = array<i64: 0, 0, 0, 0>, clamp = array<f32: 0.0, 6.0>}
    : (tensor<1x4x4x1x!q>) -> tensor<1x2x2x1x!q>
  %1 = "qnn.requantize"(%0) : (tensor<1x2x2x1x!q>) -> tensor<1x2x2x1x!r>
  return %1 : tensor<1x2x2x1x!r>
}

// 4.8 is stored as 13, that is 5.0, which the requantize makes 10; 4.8 itself would be 9.
// WHY:          hoist: no match: qnn.requantize {{.*}} the pad's value 4.8 would be stored as 9, not 10
// CHECK-LABEL:  func.func @keep_other_fill(
// CHECK-NEXT:     qnn.pad
// CHECK-NEXT:     qnn.requantize
func.func @keep_other_fill(%x: tensor<4x!q>) -> tensor<6x!odd> {
  %0 = "qnn.pad"(%x) {low = array<i64: 1>, high = array<i64: 1>, value = 4.8 : f32} : (tensor<4x!q>) -> tensor<6x!q>
  %1 = "qnn.requantize"(%0) : (tensor<6x!q>) -> tensor<6x!odd>
  return %1 : tensor<6x!odd>
}

// WHY:         hoist: no match: qnn.requantize {{.*}} qnn.reshape has other users
// CHECK-LABEL: func.func @keep_for_other_user(
// CHECK-NEXT:    qnn.reshape
// CHECK-NEXT:    qnn.requantize
func.func @keep_for_other_user(%x: tensor<2x3x!q>) -> (tensor<6x!q>, tensor<6x!r>) {
  %0 = "qnn.reshape"(%x) : (tensor<2x3x!q>) -> tensor<6x!q>
  %1 = "qnn.requantize"(%0) : (tensor<6x!q>) -> tensor<6x!r>
  return %0, %1 : tensor<6x!q>, tensor<6x!r>
}

// WHY:         hoist: no match: qnn.requantize {{.*}} qnn.reshape changes the parameters itself
// CHECK-LABEL: func.func @keep_below_rescaling_reshape(
// CHECK-NEXT:    qnn.reshape
// CHECK-NEXT:    qnn.requantize
func.func @keep_below_rescaling_reshape(%x: tensor<2x3x!q>) -> tensor<6x!r> {
  %0 = "qnn.reshape"(%x) : (tensor<2x3x!q>) -> tensor<6x!odd>
  %1 = "qnn.requantize"(%0) : (tensor<6x!odd>) -> tensor<6x!r>
  return %1 : tensor<6x!r>
}

// A mean of requantized values is not the requantized mean.
// WHY:         hoist: no match: qnn.requantize {{.*}} qnn.avg_pool2d does more than move values
// CHECK-LABEL: func.func @keep_below_avg_pool2d(
// CHECK-NEXT:    qnn.avg_pool2d
// CHECK-NEXT:    qnn.requantize
func.func @keep_below_avg_pool2d(%x: tensor<1x2x2x1x!q>) -> tensor<1x2x2x1x!r> {
  %0 = "qnn.avg_pool2d"(%x) {window = array<i64: 1, 1>, strides = array<i64: 1, 1>, padding = array<i64: 0, 0, 0, 0>, clamp = array<f32>}
    : (tensor<1x2x2x1x!q>) -> tensor<1x2x2x1x!q>
  %1 = "qnn.requantize"(%0) : (tensor<1x2x2x1x!q>) -> tensor<1x2x2x1x!r>
  return %1 : tensor<1x2x2x1x!r>
}

// -----

!q = !quant.uniform<i8:f32, 5.0e-01:3>
!wide = !quant.uniform<i16:f32, 1.0e-03>

module attributes {qnn.target = "xnnpack"} {
// XNNPACK has no 16-bit transpose.
// WHY:         hoist: no match: qnn.requantize {{.*}} rule 'unsupported' of target xnnpack
// CHECK-LABEL: func.func @keep_rule(
// CHECK-NEXT:    qnn.transpose
// CHECK-NEXT:    qnn.requantize
func.func @keep_rule(%x: tensor<2x3x!q>) -> tensor<3x2x!wide> {
  %0 = "qnn.transpose"(%x) {permutation = array<i64: 1, 0>} : (tensor<2x3x!q>) -> tensor<3x2x!q>
  %1 = "qnn.requantize"(%0) : (tensor<3x2x!q>) -> tensor<3x2x!wide>
  return %1 : tensor<3x2x!wide>
}
}
