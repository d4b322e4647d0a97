// RUN: qopt %s -p fold-requantize-into-constant | %filecheck
// RUN: qopt %s -p fold-requantize-into-constant --explain -o /dev/null 2>&1 | %filecheck --check-prefix=WHY

!q = !quant.uniform<i8:f32, 5.0e-01:3>
!r = !quant.uniform<i8:f32, 2.5e-01:-1>
!u = !quant.uniform<u8:f32, 5.0e-01:131>

// (q - 3) * 2 - 1, saturated.
// CHECK-LABEL: func.func @fold_scale()
// CHECK-NEXT:    %[[C:.+]] = "qnn.constant"() {value = dense<[-9, -7, -5, 127]> : tensor<4xi8>} : () -> {{.*}}i8:f32, 2.500000e-01:-1>>
// CHECK-NEXT:    return %[[C]]
func.func @fold_scale() -> tensor<4x!r> {
  %0 = "qnn.constant"() {value = dense<[-1, 0, 1, 127]> : tensor<4xi8>} : () -> tensor<4x!q>
  %1 = "qnn.requantize"(%0) : (tensor<4x!q>) -> tensor<4x!r>
  return %1 : tensor<4x!r>
}

// Unsigned values are written by their bits: 255 is -1.
// CHECK-LABEL: func.func @fold_relabelling()
// CHECK-NEXT:    %[[C:.+]] = "qnn.constant"() {value = dense<[127, -128, -127, -1]> : tensor<4xi8>} : () -> {{.*}}u8:f32, 5.000000e-01:131>>
// CHECK-NEXT:    return %[[C]]
func.func @fold_relabelling() -> tensor<4x!u> {
  %0 = "qnn.constant"() {value = dense<[-1, 0, 1, 127]> : tensor<4xi8>} : () -> tensor<4x!q>
  %1 = "qnn.requantize"(%0) : (tensor<4x!q>) -> tensor<4x!u>
  return %1 : tensor<4x!u>
}

// CHECK-LABEL: func.func @fold_beside_other_user()
// CHECK-NEXT:    %[[A:.+]] = "qnn.constant"() {value = dense<[-1, 0, 1, 127]>
// CHECK-NEXT:    %[[B:.+]] = "qnn.constant"() {value = dense<[-9, -7, -5, 127]>
// CHECK-NEXT:    return %[[A]], %[[B]]
func.func @fold_beside_other_user() -> (tensor<4x!q>, tensor<4x!r>) {
  %0 = "qnn.constant"() {value = dense<[-1, 0, 1, 127]> : tensor<4xi8>} : () -> tensor<4x!q>
  %1 = "qnn.requantize"(%0) : (tensor<4x!q>) -> tensor<4x!r>
  return %0, %1 : tensor<4x!q>, tensor<4x!r>
}

// WHY:         fold_constant: no match: qnn.requantize {{.*}} the input is no constant
// CHECK-LABEL: func.func @keep_argument(
// CHECK:         qnn.requantize
func.func @keep_argument(%x: tensor<4x!q>) -> tensor<4x!r> {
  %0 = "qnn.requantize"(%x) : (tensor<4x!q>) -> tensor<4x!r>
  return %0 : tensor<4x!r>
}

// WHY:         fold_constant: no match: qnn.requantize {{.*}} the constant's data is not there
// CHECK-LABEL: func.func @keep_elided(
// CHECK:         qnn.requantize
func.func @keep_elided() -> tensor<4x!r> {
  %0 = "qnn.constant"() {value = dense_resource<elided> : tensor<4xi8>} : () -> tensor<4x!q>
  %1 = "qnn.requantize"(%0) : (tensor<4x!q>) -> tensor<4x!r>
  return %1 : tensor<4x!r>
}
