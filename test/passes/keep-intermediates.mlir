// RUN: qopt %s -p keep-intermediates --split-input-file | %filecheck

!q = !quant.uniform<i8:f32, 5.0e-01:3>

// The model's own output stays first; the op that makes it is not returned twice.
// CHECK-LABEL: func.func @outputs
// CHECK-SAME:    -> (tensor<4x!quant.uniform<{{.*}}>> {qnn.name = "y"},
// CHECK-SAME:        tensor<4x!quant.uniform<{{.*}}>> {qnn.name = "sum", qnn.role = "intermediate"})
// CHECK:         %[[SUM:[a-z0-9]+]] = "qnn.add"
// CHECK:         %[[Y:[a-z0-9]+]] = "qnn.mul"
// CHECK:         return %[[Y]], %[[SUM]]
func.func @outputs(%x: tensor<4x!q>) -> (tensor<4x!q> {qnn.name = "y"}) {
  %0 = "qnn.add"(%x, %x) {clamp = array<f32>} : (tensor<4x!q>, tensor<4x!q>) -> tensor<4x!q> loc("sum")
  %1 = "qnn.mul"(%0, %x) {clamp = array<f32>} : (tensor<4x!q>, tensor<4x!q>) -> tensor<4x!q> loc("y")
  return %1 : tensor<4x!q>
}

// -----
!q = !quant.uniform<i8:f32, 5.0e-01:3>

// Of several ops with one name the last has the tensor's value. An op without a name is called what it is.
// CHECK-LABEL: func.func @names
// CHECK-SAME:    -> (tensor<4x!quant.uniform<{{.*}}>>,
// CHECK-SAME:        {qnn.name = "t#0", qnn.role = "intermediate"}
// CHECK-SAME:        {qnn.name = "t", qnn.role = "intermediate"}
// CHECK-SAME:        {qnn.name = "requantize", qnn.role = "intermediate"}
func.func @names(%x: tensor<4x!q>) -> tensor<4x!q> {
  %c = "qnn.constant"() {value = dense<1> : tensor<4xi8>} : () -> tensor<4x!q>
  %0 = "qnn.add"(%x, %c) {clamp = array<f32>} : (tensor<4x!q>, tensor<4x!q>) -> tensor<4x!q> loc("t")
  %1 = "qnn.mul"(%0, %x) {clamp = array<f32>} : (tensor<4x!q>, tensor<4x!q>) -> tensor<4x!q> loc("t")
  %2 = "qnn.requantize"(%1) : (tensor<4x!q>) -> tensor<4x!q>
  return %x : tensor<4x!q>
}
