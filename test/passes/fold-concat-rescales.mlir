// RUN: qopt %s -p fold-concat-rescales --split-input-file | %filecheck
// RUN: qopt %s -p fold-concat-rescales{allow-inexact=true} --split-input-file | %filecheck --check-prefix=INEXACT
// RUN: qopt %s -p fold-concat-rescales --split-input-file --explain -o /dev/null 2>&1 | %filecheck --check-prefix=WHY

!x = !quant.uniform<i8:f32, 5.0e-01:3>
!a = !quant.uniform<i8:f32, 2.5e-01:-1>
!c = !quant.uniform<i8:f32, 2.0e-01:5>

// A forced requantize between the producer and the concat.
// CHECK-LABEL: func.func @fold_forced_requantize(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: {{.*}}, %[[Y:[a-z0-9]+]]: {{.*}}, %[[Z:[a-z0-9]+]]: tensor
// CHECK-NEXT:    %[[A:.+]] = "qnn.add"(%[[X]], %[[Y]]) {{.*}} -> tensor<4x!quant.uniform<i8:f32, 2.000000e-01:5>>
// CHECK-NEXT:    %[[R:.+]] = "qnn.concat"(%[[A]], %[[Z]])
// CHECK-NEXT:    return %[[R]]
func.func @fold_forced_requantize(%x: tensor<4x!x>, %y: tensor<4x!x>, %z: tensor<4x!c>) -> tensor<8x!c> {
  %0 = "qnn.add"(%x, %y) {clamp = array<f32>} : (tensor<4x!x>, tensor<4x!x>) -> tensor<4x!a>
  %1 = "qnn.requantize"(%0) {qnn.inserted = "same-as-result"} : (tensor<4x!a>) -> tensor<4x!c>
  %2 = "qnn.concat"(%1, %z) {axis = 0 : i64, operandSegmentSizes = array<i32: 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>}
    : (tensor<4x!c>, tensor<4x!c>) -> tensor<8x!c>
  return %2 : tensor<8x!c>
}

// Constants are brought to the concat's parameters now, by its own arithmetic or by the requantize.
// CHECK-LABEL: func.func @fold_constants(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor
// CHECK-NEXT:    %[[B:.+]] = "qnn.constant"() {value = dense<[6, 9]> {{.*}} -> tensor<2x!quant.uniform<i8:f32, 2.000000e-01:5>>
// CHECK-NEXT:    %[[A:.+]] = "qnn.constant"() {value = dense<[6, 8]> {{.*}} -> tensor<2x!quant.uniform<i8:f32, 2.000000e-01:5>>
// CHECK-NEXT:    "qnn.concat"(%[[A]], %[[B]], %[[X]])
func.func @fold_constants(%x: tensor<2x!c>) -> tensor<6x!c> {
  %0 = "qnn.constant"() {value = dense<[0, 1]> : tensor<2xi8>} : () -> tensor<2x!a>
  %1 = "qnn.constant"() {value = dense<[0, 2]> : tensor<2xi8>} : () -> tensor<2x!a>
  %2 = "qnn.requantize"(%1) : (tensor<2x!a>) -> tensor<2x!c>
  %3 = "qnn.concat"(%0, %2, %x) {axis = 0 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>}
    : (tensor<2x!a>, tensor<2x!c>, tensor<2x!c>) -> tensor<6x!c>
  return %3 : tensor<6x!c>
}

// The concat's own rescale, which nobody forced, is left out only if that is allowed.
// WHY:           fold_rescale: no match: qnn.concat {{.*}} input 0: the result would lose a rounding step
// CHECK-LABEL:   func.func @keep_concats_own_rescale(
// CHECK-NEXT:      "qnn.add"{{.*}} -> tensor<4x!quant.uniform<i8:f32, 2.500000e-01:-1>>
// INEXACT-LABEL: func.func @keep_concats_own_rescale(
// INEXACT-NEXT:    "qnn.add"{{.*}} -> tensor<4x!quant.uniform<i8:f32, 2.000000e-01:5>>
func.func @keep_concats_own_rescale(%x: tensor<4x!x>, %y: tensor<4x!x>) -> tensor<8x!c> {
  %0 = "qnn.add"(%x, %y) {clamp = array<f32>} : (tensor<4x!x>, tensor<4x!x>) -> tensor<4x!a>
  %1 = "qnn.concat"(%0, %x) {axis = 0 : i64, operandSegmentSizes = array<i32: 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>}
    : (tensor<4x!a>, tensor<4x!x>) -> tensor<8x!c>
  return %1 : tensor<8x!c>
}

// WHY:         fold_rescale: no match: qnn.concat {{.*}} input 1 is an argument
// WHY:         fold_rescale: no match: qnn.concat {{.*}} input 0: qnn.add has other users
// CHECK-LABEL: func.func @keep_for_other_user(
// CHECK-NEXT:    "qnn.add"{{.*}} -> tensor<4x!quant.uniform<i8:f32, 2.500000e-01:-1>>
func.func @keep_for_other_user(%x: tensor<4x!x>, %y: tensor<4x!x>) -> (tensor<4x!a>, tensor<4x!c>) {
  %0 = "qnn.add"(%x, %y) {clamp = array<f32>} : (tensor<4x!x>, tensor<4x!x>) -> tensor<4x!a>
  %1 = "qnn.concat"(%0) {axis = 0 : i64, operandSegmentSizes = array<i32: 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>}
    : (tensor<4x!a>) -> tensor<4x!c>
  return %0, %1 : tensor<4x!a>, tensor<4x!c>
}

// WHY:         no match: qnn.concat {{.*}} a concat that is not quantized has nothing to rescale
// CHECK-LABEL: func.func @keep_float(
// CHECK-NEXT:    qnn.concat
func.func @keep_float(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<8xf32> {
  %0 = "qnn.concat"(%x, %y) {axis = 0 : i64, operandSegmentSizes = array<i32: 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>}
    : (tensor<4xf32>, tensor<4xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

!x = !quant.uniform<i8:f32, 5.0e-01:3>
!tanh = !quant.uniform<i8:f32, 7.8125e-03>
!c = !quant.uniform<i8:f32, 2.0e-01:5>

module attributes {qnn.target = "tflite"} {
// TFLite's tanh has one scale only.
// WHY:         no match: qnn.requantize {{.*}} rule 'fixed(1/128, 0)' of target tflite
// CHECK-LABEL: func.func @keep_rule(
// CHECK:         qnn.requantize
func.func @keep_rule(%x: tensor<4x!x>) -> tensor<4x!c> {
  %0 = "qnn.tanh"(%x) : (tensor<4x!x>) -> tensor<4x!tanh>
  %1 = "qnn.requantize"(%0) {qnn.inserted = "same-as-result"} : (tensor<4x!tanh>) -> tensor<4x!c>
  %2 = "qnn.concat"(%1) {axis = 0 : i64, operandSegmentSizes = array<i32: 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>}
    : (tensor<4x!c>) -> tensor<4x!c>
  return %2 : tensor<4x!c>
}
}
