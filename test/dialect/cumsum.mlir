// RUN: qopt %s | qopt | %filecheck

// CHECK-LABEL: func.func @cumsum_float(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<?x4xf32>
// CHECK:         "qnn.cumsum"(%[[X]]) {axis = 1 : i64, exclusive = false, reverse = true}
// CHECK-SAME:      : (tensor<?x4xf32>) -> tensor<?x4xf32>
func.func @cumsum_float(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %result = "qnn.cumsum"(%x) {axis = 1 : i64, exclusive = false, reverse = true} : (tensor<?x4xf32>) -> tensor<?x4xf32>
  return %result : tensor<?x4xf32>
}

// CHECK-LABEL: func.func @cumsum_integer(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<2x4xi32>
// CHECK:         "qnn.cumsum"(%[[X]]) {axis = 0 : i64, exclusive = true, reverse = false}
// CHECK-SAME:      : (tensor<2x4xi32>) -> tensor<2x4xi32>
func.func @cumsum_integer(%x: tensor<2x4xi32>) -> tensor<2x4xi32> {
  %result = "qnn.cumsum"(%x) {axis = 0 : i64, exclusive = true, reverse = false} : (tensor<2x4xi32>) -> tensor<2x4xi32>
  return %result : tensor<2x4xi32>
}
