// A module that obeys the rules is not changed, and the target is the one that it remembers.
// RUN: qopt %s -p verify-params | %filecheck
// Between passes, too.
// RUN: qopt %s -p canonicalize,cse --verify-params=tflite | %filecheck

!a = !quant.uniform<i8:f32, 0.5:3>
!s = !quant.uniform<i8:f32, 0.00390625:-128>

// CHECK: module attributes {qnn.target = "tflite"}
// CHECK-LABEL: func.func @keep_legal
// CHECK-NEXT:    "qnn.reshape"
// CHECK-NEXT:    "qnn.softmax"
// CHECK-NEXT:    return
module attributes {qnn.target = "tflite"} {
  func.func @keep_legal(%x: tensor<2x8x!a>) -> tensor<1x16x!s> {
    %r = "qnn.reshape"(%x) : (tensor<2x8x!a>) -> tensor<1x16x!a>
    %s = "qnn.softmax"(%r) {beta = 1.0 : f32, axis = 1 : i64} : (tensor<1x16x!a>) -> tensor<1x16x!s>
    return %s : tensor<1x16x!s>
  }
}
