// RUN: qopt %s -p share-requantizes | %filecheck

!q = !quant.uniform<i8:f32, 5.0e-01:3>
!r = !quant.uniform<i8:f32, 3.0e-01:-7>
!s = !quant.uniform<i8:f32, 3.0e-01:-8>

// CHECK-LABEL:   func.func @share_equal(
// CHECK-SAME:      %[[X:[a-z0-9]+]]: tensor
// CHECK-NEXT:      %[[A:.+]] = "qnn.requantize"(%[[X]]) {qnn.inserted = "fixed"}
// CHECK-NEXT:      return %[[A]], %[[A]]
func.func @share_equal(%x: tensor<4x!q>) -> (tensor<4x!r>, tensor<4x!r>) {
  %0 = "qnn.requantize"(%x) {qnn.inserted = "fixed"} : (tensor<4x!q>) -> tensor<4x!r>
  %1 = "qnn.requantize"(%x) {qnn.inserted = "same-as-result"} : (tensor<4x!q>) -> tensor<4x!r>
  return %0, %1 : tensor<4x!r>, tensor<4x!r>
}

// The user's own requantize stays the user's own.
// CHECK-LABEL:   func.func @share_with_users_own(
// CHECK-SAME:      %[[X:[a-z0-9]+]]: tensor
// CHECK-NEXT:      %[[A:.+]] = "qnn.requantize"(%[[X]]) :
// CHECK-NEXT:      return %[[A]], %[[A]]
func.func @share_with_users_own(%x: tensor<4x!q>) -> (tensor<4x!r>, tensor<4x!r>) {
  %0 = "qnn.requantize"(%x) {qnn.inserted = "fixed"} : (tensor<4x!q>) -> tensor<4x!r>
  %1 = "qnn.requantize"(%x) : (tensor<4x!q>) -> tensor<4x!r>
  return %0, %1 : tensor<4x!r>, tensor<4x!r>
}

// What follows is shared, too.
// CHECK-LABEL:   func.func @share_chains(
// CHECK-COUNT-2:   qnn.requantize
// CHECK-NEXT:      return %[[B:.+]], %[[B]]
func.func @share_chains(%x: tensor<4x!q>) -> (tensor<4x!s>, tensor<4x!s>) {
  %0 = "qnn.requantize"(%x) : (tensor<4x!q>) -> tensor<4x!r>
  %1 = "qnn.requantize"(%x) : (tensor<4x!q>) -> tensor<4x!r>
  %2 = "qnn.requantize"(%0) : (tensor<4x!r>) -> tensor<4x!s>
  %3 = "qnn.requantize"(%1) : (tensor<4x!r>) -> tensor<4x!s>
  return %2, %3 : tensor<4x!s>, tensor<4x!s>
}

// Other parameters.
// CHECK-LABEL:   func.func @keep_other_type(
// CHECK-COUNT-2:   qnn.requantize
func.func @keep_other_type(%x: tensor<4x!q>) -> (tensor<4x!r>, tensor<4x!s>) {
  %0 = "qnn.requantize"(%x) : (tensor<4x!q>) -> tensor<4x!r>
  %1 = "qnn.requantize"(%x) : (tensor<4x!q>) -> tensor<4x!s>
  return %0, %1 : tensor<4x!r>, tensor<4x!s>
}

// Other values.
// CHECK-LABEL:   func.func @keep_other_value(
// CHECK-COUNT-2:   qnn.requantize
func.func @keep_other_value(%x: tensor<4x!q>, %y: tensor<4x!q>) -> (tensor<4x!r>, tensor<4x!r>) {
  %0 = "qnn.requantize"(%x) : (tensor<4x!q>) -> tensor<4x!r>
  %1 = "qnn.requantize"(%y) : (tensor<4x!q>) -> tensor<4x!r>
  return %0, %1 : tensor<4x!r>, tensor<4x!r>
}
