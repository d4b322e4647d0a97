// The mechanism: types, attributes, constants, ops of other dialects. Ops by family: convert-qnn-to-linalg-*.mlir.
// RUN: qopt %s -p convert-qnn-to-linalg --split-input-file | %filecheck

!q = !quant.uniform<u8:f32, 5.0e-01:3>

// Storage is signless; attributes of arguments and results stay.
// CHECK-LABEL: func.func @main
// CHECK-SAME:    %[[X:.*]]: tensor<4xi8> {qnn.name = "input"}) -> (tensor<2x2xi8> {qnn.name = "output"})
// CHECK:         %[[Y:.*]] = tensor.expand_shape %[[X]]
// CHECK:         return %[[Y]] : tensor<2x2xi8>
func.func @main(%x: tensor<4x!q> {qnn.name = "input"}) -> (tensor<2x2x!q> {qnn.name = "output"}) {
  %0 = "qnn.reshape"(%x) : (tensor<4x!q>) -> tensor<2x2x!q>
  return %0 : tensor<2x2x!q>
}

// -----
// Declarations, calls and casts between a quantized type and its storage.

!q = !quant.uniform<i16:f32, 5.0e-01>

// CHECK:       func.func private @callee(tensor<4xi16>) -> tensor<4xi16>
// CHECK-LABEL: func.func @caller
// CHECK-SAME:    %[[X:.*]]: tensor<4xi16>
// CHECK-NEXT:    %[[Y:.*]] = call @callee(%[[X]]) : (tensor<4xi16>) -> tensor<4xi16>
// CHECK-NEXT:    return %[[Y]] : tensor<4xi16>
func.func private @callee(tensor<4x!q>) -> tensor<4x!q>
func.func @caller(%x: tensor<4xi16>) -> tensor<4xi16> {
  %0 = quant.scast %x : tensor<4xi16> to tensor<4x!q>
  %1 = call @callee(%0) : (tensor<4x!q>) -> tensor<4x!q>
  %2 = quant.scast %1 : tensor<4x!q> to tensor<4xi16>
  return %2 : tensor<4xi16>
}

// -----
// An op with a region keeps it, on the lowered operands. Four-bit storage takes a byte.

!q = !quant.uniform<i4:f32, 5.0e-01>

// CHECK-LABEL: func.func @region
// CHECK-SAME:    %[[X:.*]]: tensor<4xi8>, %[[F:.*]]: tensor<4xf32>
// CHECK:         scf.if
// CHECK-NEXT:      scf.yield %[[F]] : tensor<4xf32>
func.func @region(%x: tensor<4x!q>, %f: tensor<4xf32>, %c: i1) -> (tensor<4x!q>, tensor<4xf32>) {
  %0 = scf.if %c -> tensor<4xf32> {
    scf.yield %f : tensor<4xf32>
  } else {
    %1 = arith.negf %f : tensor<4xf32>
    scf.yield %1 : tensor<4xf32>
  }
  return %x, %0 : tensor<4x!q>, tensor<4xf32>
}

// -----
// A constant appears once, and only if its tensor is needed.

!q = !quant.uniform<i8:f32, 5.0e-01>

// CHECK-LABEL: func.func @constants
// CHECK-NEXT:    %[[C:.*]] = arith.constant dense<[1, 2]> : tensor<2xi8>
// CHECK-NEXT:    return %[[C]], %[[C]]
func.func @constants() -> (tensor<2x!q>, tensor<2x!q>) {
  %unused = "qnn.constant"() {value = dense<[3, 4]> : tensor<2xi8>} : () -> tensor<2x!q>
  %0 = "qnn.constant"() {value = dense<[1, 2]> : tensor<2xi8>} : () -> tensor<2x!q>
  return %0, %0 : tensor<2x!q>, tensor<2x!q>
}
