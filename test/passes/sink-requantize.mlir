// RUN: qopt %s -p sink-requantize --split-input-file | %filecheck
// RUN: qopt %s -p sink-requantize{larger=true} --split-input-file | %filecheck --check-prefix=LARGER
// RUN: qopt %s -p sink-requantize --split-input-file --explain -o /dev/null 2>&1 | %filecheck --check-prefix=WHY

!q = !quant.uniform<i8:f32, 5.0e-01:3>
!p = !quant.uniform<i8:f32, 5.0e-01:4>
!r = !quant.uniform<i8:f32, 2.5e-01:-1>

// As far down as it goes; the mark goes along.
// CHECK-LABEL: func.func @sink_below_moves(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor
// CHECK-NEXT:    %[[A:.+]] = "qnn.transpose"(%[[X]]) {{.*}} -> tensor<4x2x!quant.uniform<i8:f32, 5.000000e-01:3>>
// CHECK-NEXT:    %[[B:.+]] = "qnn.slice"(%[[A]])
// CHECK-NEXT:    %[[R:.+]] = "qnn.requantize"(%[[B]]) {qnn.inserted = "same-as-result"} {{.*}} -> tensor<2x2x!quant.uniform<i8:f32, 2.500000e-01:-1>>
// CHECK-NEXT:    return %[[R]]
func.func @sink_below_moves(%x: tensor<2x4x!q>) -> tensor<2x2x!r> {
  %0 = "qnn.requantize"(%x) {qnn.inserted = "same-as-result"} : (tensor<2x4x!q>) -> tensor<2x4x!r>
  %1 = "qnn.transpose"(%0) {permutation = array<i64: 1, 0>} : (tensor<2x4x!r>) -> tensor<4x2x!r>
  %2 = "qnn.slice"(%1) {offsets = array<i64: 0, 0>, sizes = array<i64: 2, 2>, strides = array<i64: 1, 1>} : (tensor<4x2x!r>) -> tensor<2x2x!r>
  return %2 : tensor<2x2x!r>
}

// The largest value before is the largest after; the clamp [0, 6] limits the same values in both.
// CHECK-LABEL: func.func @sink_below_max_pool2d(
// CHECK-NEXT:    qnn.max_pool2d
// CHECK-NEXT:    qnn.requantize
// CHECK-NEXT:    return
func.func @sink_below_max_pool2d(%x: tensor<1x4x4x1x!q>) -> tensor<1x2x2x1x!r> {
  %0 = "qnn.requantize"(%x) : (tensor<1x4x4x1x!q>) -> tensor<1x4x4x1x!r>
  %1 = "qnn.max_pool2d"(%0) {window = array<i64: 2, 2>, strides = array<i64: 2, 2>, padding = array<i64: 0, 0, 0, 0>, clamp = array<f32: 0.0, 6.0>}
    : (tensor<1x4x4x1x!r>) -> tensor<1x2x2x1x!r>
  return %1 : tensor<1x2x2x1x!r>
}

// Two become one.
// CHECK-LABEL: func.func @sink_below_concat(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: {{.*}}, %[[Y:[a-z0-9]+]]: tensor
// CHECK-NEXT:    %[[A:.+]] = "qnn.concat"(%[[X]], %[[Y]])
// CHECK-NEXT:    %[[R:.+]] = "qnn.requantize"(%[[A]]) :
// CHECK-NEXT:    return %[[R]]
func.func @sink_below_concat(%x: tensor<4x!q>, %y: tensor<4x!q>) -> tensor<8x!r> {
  %0 = "qnn.requantize"(%x) {qnn.inserted = "same-as-result"} : (tensor<4x!q>) -> tensor<4x!r>
  %1 = "qnn.requantize"(%y) : (tensor<4x!q>) -> tensor<4x!r>
  %2 = "qnn.concat"(%0, %1) {axis = 0 : i64, operandSegmentSizes = array<i32: 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>}
    : (tensor<4x!r>, tensor<4x!r>) -> tensor<8x!r>
  return %2 : tensor<8x!r>
}

// WHY:         sink: no match: qnn.concat {{.*}} the inputs have different parameters before they are requantized
// CHECK-LABEL: func.func @keep_different_inputs(
// CHECK:         qnn.concat
// CHECK-NEXT:    return
func.func @keep_different_inputs(%x: tensor<4x!q>, %y: tensor<4x!p>) -> tensor<8x!r> {
  %0 = "qnn.requantize"(%x) : (tensor<4x!q>) -> tensor<4x!r>
  %1 = "qnn.requantize"(%y) : (tensor<4x!p>) -> tensor<4x!r>
  %2 = "qnn.concat"(%0, %1) {axis = 0 : i64, operandSegmentSizes = array<i32: 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>}
    : (tensor<4x!r>, tensor<4x!r>) -> tensor<8x!r>
  return %2 : tensor<8x!r>
}

// WHY:         sink: no match: qnn.concat {{.*}} an input is no requantize
// CHECK-LABEL: func.func @keep_one_plain_input(
// CHECK-NEXT:    qnn.requantize
// CHECK-NEXT:    qnn.concat
func.func @keep_one_plain_input(%x: tensor<4x!q>, %y: tensor<4x!r>) -> tensor<8x!r> {
  %0 = "qnn.requantize"(%x) : (tensor<4x!q>) -> tensor<4x!r>
  %1 = "qnn.concat"(%0, %y) {axis = 0 : i64, operandSegmentSizes = array<i32: 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>}
    : (tensor<4x!r>, tensor<4x!r>) -> tensor<8x!r>
  return %1 : tensor<8x!r>
}

// There is more to requantize below a pad.
// WHY:          sink: no match: qnn.pad {{.*}} the result is larger than the input
// CHECK-LABEL:  func.func @keep_above_pad(
// CHECK-NEXT:     qnn.requantize
// CHECK-NEXT:     qnn.pad
// LARGER-LABEL: func.func @keep_above_pad(
// LARGER-NEXT:    qnn.pad
// LARGER-NEXT:    qnn.requantize
func.func @keep_above_pad(%x: tensor<4x!q>) -> tensor<6x!r> {
  %0 = "qnn.requantize"(%x) : (tensor<4x!q>) -> tensor<4x!r>
  %1 = "qnn.pad"(%0) {low = array<i64: 1>, high = array<i64: 1>, value = 0.0 : f32} : (tensor<4x!r>) -> tensor<6x!r>
  return %1 : tensor<6x!r>
}

// 2.2 is 4.4, so 4, steps of the pool's scale; of the scale before it is 8.8, so 9 steps, which the requantize makes 5.
// WHY:         sink: no match: qnn.max_pool2d {{.*}} the clamp of qnn.max_pool2d limits elsewhere: {{[0-9]+}} of 256 stored values would differ
// CHECK-LABEL: func.func @keep_other_clamp(
// CHECK-NEXT:    qnn.requantize
// CHECK-NEXT:    qnn.max_pool2d
func.func @keep_other_clamp(%x: tensor<1x4x4x1x!r>) -> tensor<1x2x2x1x!q> {
  %0 = "qnn.requantize"(%x) : (tensor<1x4x4x1x!r>) -> tensor<1x4x4x1x!q>
  %1 = "qnn.max_pool2d"(%0) {window = array<i64: 2, 2>, strides = array<i64: 2, 2>, padding = array<i64: 0, 0, 0, 0>, clamp = array<f32: 0.0, 2.2>}
    : (tensor<1x4x4x1x!q>) -> tensor<1x2x2x1x!q>
  return %1 : tensor<1x2x2x1x!q>
}

// WHY:         sink: no match: qnn.reshape {{.*}} a requantized input has other users
// CHECK-LABEL: func.func @keep_for_other_user(
// CHECK-NEXT:    qnn.requantize
// CHECK-NEXT:    qnn.reshape
func.func @keep_for_other_user(%x: tensor<4x!q>) -> (tensor<4x!r>, tensor<2x2x!r>) {
  %0 = "qnn.requantize"(%x) : (tensor<4x!q>) -> tensor<4x!r>
  %1 = "qnn.reshape"(%0) : (tensor<4x!r>) -> tensor<2x2x!r>
  return %0, %1 : tensor<4x!r>, tensor<2x2x!r>
}

// WHY:         sink: no match: qnn.reshape {{.*}} it changes the parameters itself
// CHECK-LABEL: func.func @keep_above_rescaling_reshape(
// CHECK-NEXT:    qnn.requantize
// CHECK-NEXT:    qnn.reshape
func.func @keep_above_rescaling_reshape(%x: tensor<4x!q>) -> tensor<2x2x!p> {
  %0 = "qnn.requantize"(%x) : (tensor<4x!q>) -> tensor<4x!r>
  %1 = "qnn.reshape"(%0) : (tensor<4x!r>) -> tensor<2x2x!p>
  return %1 : tensor<2x2x!p>
}

// -----

!wide = !quant.uniform<i16:f32, 1.0e-03>
!q = !quant.uniform<i8:f32, 5.0e-01:3>

module attributes {qnn.target = "xnnpack"} {
// XNNPACK has no 16-bit transpose.
// WHY:         sink: no match: qnn.transpose {{.*}} rule 'unsupported' of target xnnpack
// CHECK-LABEL: func.func @keep_rule(
// CHECK-NEXT:    qnn.requantize
// CHECK-NEXT:    qnn.transpose
func.func @keep_rule(%x: tensor<2x3x!wide>) -> tensor<3x2x!q> {
  %0 = "qnn.requantize"(%x) : (tensor<2x3x!wide>) -> tensor<2x3x!q>
  %1 = "qnn.transpose"(%0) {permutation = array<i64: 1, 0>} : (tensor<2x3x!q>) -> tensor<3x2x!q>
  return %1 : tensor<3x2x!q>
}
}
