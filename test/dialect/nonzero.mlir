// RUN: qopt %s | qopt | %filecheck

// CHECK-LABEL: func.func @nonzero(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<8xi1>
// CHECK:         "qnn.nonzero"(%[[X]]) : (tensor<8xi1>) -> tensor<8xi64>
func.func @nonzero(%x: tensor<8xi1>) -> tensor<8xi64> {
  %result = "qnn.nonzero"(%x) : (tensor<8xi1>) -> tensor<8xi64>
  return %result : tensor<8xi64>
}
