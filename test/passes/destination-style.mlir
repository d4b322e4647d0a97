// RUN: qopt %s -p destination-style --split-input-file | %filecheck

// CHECK-LABEL: func.func @pad
// CHECK-SAME:    (%[[X:[a-z0-9]+]]: tensor<2x3xi8>)
// CHECK:         %[[Z:[a-z0-9_]+]] = arith.constant 3 : i8
// CHECK:         %[[F:[a-z0-9]+]] = linalg.fill ins(%[[Z]] : i8)
// CHECK:         %[[V:[a-z0-9_]+]] = tensor.extract_slice %[[F]][1, 0] [2, 3] [1, 1]
// CHECK:         %[[C:[a-z0-9]+]] = linalg.copy {{.*}}ins(%[[X]] : tensor<2x3xi8>) outs(%[[V]]
// CHECK:         %[[Y:[a-z0-9_]+]] = tensor.insert_slice %[[C]] into %[[F]][1, 0] [2, 3] [1, 1]
// CHECK-NEXT:    return %[[Y]]
func.func @pad(%x: tensor<2x3xi8>) -> tensor<4x4xi8> {
  %z = arith.constant 3 : i8
  %y = tensor.pad %x low[1, 0] high[1, 1] {
  ^bb0(%i: index, %j: index):
    tensor.yield %z : i8
  } : tensor<2x3xi8> to tensor<4x4xi8>
  return %y : tensor<4x4xi8>
}

// -----
// CHECK-LABEL: func.func @concat
// CHECK-SAME:    (%[[A:[a-z0-9]+]]: tensor<2x1xi8>, %[[B:[a-z0-9]+]]: tensor<2x3xi8>)
// CHECK:         linalg.copy {{.*}}ins(%[[A]]
// CHECK:         %[[FIRST:[a-z0-9_]+]] = tensor.insert_slice {{.*}}[0, 0] [2, 1] [1, 1]
// CHECK:         linalg.copy {{.*}}ins(%[[B]]
// CHECK:         tensor.insert_slice {{.*}} into %[[FIRST]][0, 1] [2, 3] [1, 1]
func.func @concat(%a: tensor<2x1xi8>, %b: tensor<2x3xi8>) -> tensor<2x4xi8> {
  %y = tensor.concat dim(1) %a, %b : (tensor<2x1xi8>, tensor<2x3xi8>) -> tensor<2x4xi8>
  return %y : tensor<2x4xi8>
}

// -----
// CHECK-LABEL: func.func @slice
// CHECK:         %[[V:[a-z0-9_]+]] = tensor.extract_slice
// CHECK:         %[[E:[a-z0-9]+]] = tensor.empty() : tensor<2xi8>
// CHECK:         linalg.copy {{.*}}ins(%[[V]] : tensor<2xi8>) outs(%[[E]]
func.func @slice(%x: tensor<8xi8>) -> tensor<2xi8> {
  %y = tensor.extract_slice %x[1] [2] [3] : tensor<8xi8> to tensor<2xi8>
  return %y : tensor<2xi8>
}

// -----
// CHECK-LABEL: func.func @insert
// CHECK-SAME:    (%[[X:[a-z0-9]+]]: tensor<2xi8>, %[[D:[a-z0-9]+]]: tensor<8xi8>)
// CHECK:         %[[V:[a-z0-9_]+]] = tensor.extract_slice %[[D]][1] [2] [3]
// CHECK:         %[[C:[a-z0-9]+]] = linalg.copy {{.*}}ins(%[[X]] : tensor<2xi8>) outs(%[[V]]
// CHECK:         tensor.insert_slice %[[C]] into %[[D]][1] [2] [3]
func.func @insert(%x: tensor<2xi8>, %d: tensor<8xi8>) -> tensor<8xi8> {
  %y = tensor.insert_slice %x into %d[1] [2] [3] : tensor<2xi8> into tensor<8xi8>
  return %y : tensor<8xi8>
}

// -----
// What is in this form already stays as it is.
// CHECK-LABEL: func.func @keep_copies
// CHECK-COUNT-1: linalg.copy
// CHECK-NOT:     linalg.copy
// CHECK:         return
func.func @keep_copies(%x: tensor<2xi8>, %d: tensor<8xi8>) -> tensor<8xi8> {
  %v = tensor.extract_slice %d[1] [2] [3] : tensor<8xi8> to tensor<2xi8>
  %c = linalg.copy ins(%x : tensor<2xi8>) outs(%v : tensor<2xi8>) -> tensor<2xi8>
  %y = tensor.insert_slice %c into %d[1] [2] [3] : tensor<2xi8> into tensor<8xi8>
  return %y : tensor<8xi8>
}

// -----
// The pad value depends on the position.
// CHECK-LABEL: func.func @keep_computed_pad
// CHECK:         tensor.pad
func.func @keep_computed_pad(%x: tensor<2xindex>) -> tensor<4xindex> {
  %y = tensor.pad %x low[1] high[1] {
  ^bb0(%i: index):
    tensor.yield %i : index
  } : tensor<2xindex> to tensor<4xindex>
  return %y : tensor<4xindex>
}
