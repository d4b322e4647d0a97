// RUN: qopt %s -p merge-requantizes | %filecheck
// RUN: qopt %s -p merge-requantizes{allow-inexact=true} | %filecheck --check-prefix=INEXACT
// RUN: qopt %s -p merge-requantizes --explain -o /dev/null 2>&1 | %filecheck --check-prefix=WHY

!q = !quant.uniform<i8:f32, 5.0e-01:3>
!q_unsigned = !quant.uniform<u8:f32, 5.0e-01:131>
!q_wide = !quant.uniform<i16:f32, 5.0e-01:3>
!q_limited = !quant.uniform<i8:f32, 5.0e-01:100>
!r = !quant.uniform<i8:f32, 3.0e-01:-7>
!r_unsigned = !quant.uniform<u8:f32, 3.0e-01:121>
!acc = !quant.uniform<i32:f32, 1.0e-03>

// i8 -> u8 loses nothing.
// CHECK-LABEL: func.func @merge_after_relabelling(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor
// CHECK-NEXT:    %[[Y:.+]] = "qnn.requantize"(%[[X]]) : ({{.*}}i8:f32, 5.000000e-01:3>>) -> {{.*}}i8:f32, 3.000000e-01:-7>>
// CHECK-NEXT:    return %[[Y]]
func.func @merge_after_relabelling(%x: tensor<4x!q>) -> tensor<4x!r> {
  %0 = "qnn.requantize"(%x) : (tensor<4x!q>) -> tensor<4x!q_unsigned>
  %1 = "qnn.requantize"(%0) : (tensor<4x!q_unsigned>) -> tensor<4x!r>
  return %1 : tensor<4x!r>
}

// Nor does widening, there and back again.
// CHECK-LABEL: func.func @merge_after_widening(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor
// CHECK-NEXT:    return %[[X]]
func.func @merge_after_widening(%x: tensor<4x!q>) -> tensor<4x!q> {
  %0 = "qnn.requantize"(%x) : (tensor<4x!q>) -> tensor<4x!q_wide>
  %1 = "qnn.requantize"(%0) : (tensor<4x!q_wide>) -> tensor<4x!q>
  return %1 : tensor<4x!q>
}

// An accumulator has too many values to try, but the second step only relabels.
// CHECK-LABEL: func.func @merge_before_relabelling(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor
// CHECK-NEXT:    %[[Y:.+]] = "qnn.requantize"(%[[X]]) : ({{.*}}i32:f32, 1.000000e-03>>) -> {{.*}}u8:f32, 3.000000e-01:121>>
// CHECK-NEXT:    return %[[Y]]
func.func @merge_before_relabelling(%x: tensor<4x!acc>) -> tensor<4x!r_unsigned> {
  %0 = "qnn.requantize"(%x) : (tensor<4x!acc>) -> tensor<4x!r>
  %1 = "qnn.requantize"(%0) : (tensor<4x!r>) -> tensor<4x!r_unsigned>
  return %1 : tensor<4x!r_unsigned>
}

// The first one stays for its other user; what is merged is forced only if both were.
// CHECK-LABEL: func.func @merge_beside_other_user(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor
// CHECK-NEXT:    %[[A:.+]] = "qnn.requantize"(%[[X]]) {qnn.inserted = "fixed"}
// CHECK-NEXT:    %[[B:.+]] = "qnn.requantize"(%[[X]]) :
// CHECK-NEXT:    return %[[A]], %[[B]]
func.func @merge_beside_other_user(%x: tensor<4x!q>) -> (tensor<4x!q_unsigned>, tensor<4x!r>) {
  %0 = "qnn.requantize"(%x) {qnn.inserted = "fixed"} : (tensor<4x!q>) -> tensor<4x!q_unsigned>
  %1 = "qnn.requantize"(%0) : (tensor<4x!q_unsigned>) -> tensor<4x!r>
  return %0, %1 : tensor<4x!q_unsigned>, tensor<4x!r>
}

// The first step rounds.
// WHY:           merge_chain: no match: qnn.requantize {{.*}} of 256 stored values would differ, by up to {{[0-9]+}} step
// CHECK-LABEL:   func.func @keep_rounding(
// CHECK-COUNT-2:   qnn.requantize
// INEXACT-LABEL: func.func @keep_rounding(
// INEXACT-SAME:    %[[X:[a-z0-9]+]]: tensor
// INEXACT-NEXT:    return %[[X]]
func.func @keep_rounding(%x: tensor<4x!r>) -> tensor<4x!r> {
  %0 = "qnn.requantize"(%x) : (tensor<4x!r>) -> tensor<4x!q>
  %1 = "qnn.requantize"(%0) : (tensor<4x!q>) -> tensor<4x!r>
  return %1 : tensor<4x!r>
}

// The first step has the same scale but saturates.
// WHY:           merge_chain: no match: qnn.requantize {{.*}} 97 of 256 stored values would differ, by up to 97 steps
// CHECK-LABEL:   func.func @keep_saturation(
// CHECK-COUNT-2:   qnn.requantize
// INEXACT-LABEL: func.func @keep_saturation(
// INEXACT-NOT:     qnn.requantize
// INEXACT:         return
func.func @keep_saturation(%x: tensor<4x!q>) -> tensor<4x!q> {
  %0 = "qnn.requantize"(%x) : (tensor<4x!q>) -> tensor<4x!q_limited>
  %1 = "qnn.requantize"(%0) : (tensor<4x!q_limited>) -> tensor<4x!q>
  return %1 : tensor<4x!q>
}

// WHY: merge_chain: no match: qnn.requantize {{.*}} values in i32 and i8 are too many to compare
// CHECK-LABEL:   func.func @keep_accumulator(
// CHECK-COUNT-2:   qnn.requantize
func.func @keep_accumulator(%x: tensor<4x!acc>) -> tensor<4x!r> {
  %0 = "qnn.requantize"(%x) : (tensor<4x!acc>) -> tensor<4x!q>
  %1 = "qnn.requantize"(%0) : (tensor<4x!q>) -> tensor<4x!r>
  return %1 : tensor<4x!r>
}
