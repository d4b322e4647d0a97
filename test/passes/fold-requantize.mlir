// RUN: qopt %s -p fold-requantize | %filecheck
// RUN: qopt %s -p fold-requantize --explain -o /dev/null 2>&1 | %filecheck --check-prefix=WHY

!q = !quant.uniform<i8:f32, 5.0e-01:3>
!narrow = !quant.uniform<i8<-127:127>:f32, 5.0e-01:3>

// WHY:         fold-requantize: folded: qnn.requantize
// CHECK-LABEL: func.func @fold_same_type(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor
// CHECK-NEXT:    return %[[X]]
func.func @fold_same_type(%x: tensor<4x!q>) -> tensor<4x!q> {
  %0 = "qnn.requantize"(%x) {qnn.inserted = "same-as-input"} : (tensor<4x!q>) -> tensor<4x!q>
  return %0 : tensor<4x!q>
}

// CHECK-LABEL: func.func @fold_chain_of_nothing(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor
// CHECK-NEXT:    return %[[X]], %[[X]]
func.func @fold_chain_of_nothing(%x: tensor<4x!q>) -> (tensor<4x!q>, tensor<4x!q>) {
  %0 = "qnn.requantize"(%x) : (tensor<4x!q>) -> tensor<4x!q>
  %1 = "qnn.requantize"(%0) : (tensor<4x!q>) -> tensor<4x!q>
  return %0, %1 : tensor<4x!q>, tensor<4x!q>
}

// Equal scale and zero point, but the storage bounds limit one value more.
// WHY:         fold_identity: no match: qnn.requantize {{.*}} the type changes
// CHECK-LABEL: func.func @keep_narrower_storage(
// CHECK:         qnn.requantize
func.func @keep_narrower_storage(%x: tensor<4x!q>) -> tensor<4x!narrow> {
  %0 = "qnn.requantize"(%x) : (tensor<4x!q>) -> tensor<4x!narrow>
  return %0 : tensor<4x!narrow>
}

// The type says one extent less.
// CHECK-LABEL: func.func @keep_forgotten_extent(
// CHECK:         qnn.requantize
func.func @keep_forgotten_extent(%x: tensor<4x!q>) -> tensor<?x!q> {
  %0 = "qnn.requantize"(%x) : (tensor<4x!q>) -> tensor<?x!q>
  return %0 : tensor<?x!q>
}
