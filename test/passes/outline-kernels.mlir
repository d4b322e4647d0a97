// RUN: qopt %s -p outline-kernels --split-input-file | %filecheck
// RUN: qopt %s -p 'outline-kernels{before-fusion=true fusion-limit=2}' --split-input-file | %filecheck --check-prefix=FIRST

// A contraction takes its initializer along; constants and the destination become arguments.
// CHECK:       func.func private @matmul_0
// CHECK-SAME:    (%[[BIAS:[a-z0-9]+]]: tensor<8xi32>, %[[OUT:[a-z0-9]+]]: tensor<4x8xi32>
// CHECK:         %[[INIT:[a-z0-9]+]] = linalg.broadcast ins(%[[BIAS]] {{.*}} outs(%[[OUT]]
// CHECK:         linalg.generic {{.*}} outs(%[[INIT]]
// CHECK:       func.func private @elementwise_0
// CHECK-LABEL: func.func @contraction
// CHECK-SAME:    (%[[X:[a-z0-9]+]]: tensor<4x16xi8>)
// CHECK-DAG:     %[[W:[a-z0-9_]+]] = arith.constant dense<1> : tensor<8x16xi8>
// CHECK-DAG:     %[[B:[a-z0-9_]+]] = arith.constant dense<2> : tensor<8xi32>
// CHECK:         %[[E:[a-z0-9]+]] = tensor.empty() : tensor<4x8xi32>
// CHECK:         %[[ACC:[a-z0-9]+]] = call @matmul_0(%[[B]], %[[E]], %[[X]], %[[W]])
// CHECK:         %[[Y:[a-z0-9]+]] = call @elementwise_0(%[[ACC]]
// CHECK-NEXT:    return %[[Y]]

// Before fusion only the contraction moves.
// FIRST:       func.func private @matmul_0
// FIRST-LABEL: func.func @contraction
// FIRST:         call @matmul_0
// FIRST:         linalg.generic
#x = affine_map<(m, o, k) -> (m, k)>
#w = affine_map<(m, o, k) -> (o, k)>
#y = affine_map<(m, o, k) -> (m, o)>
#id = affine_map<(m, o) -> (m, o)>
func.func @contraction(%x: tensor<4x16xi8>) -> tensor<4x8xi8> {
  %w = arith.constant dense<1> : tensor<8x16xi8>
  %b = arith.constant dense<2> : tensor<8xi32>
  %e = tensor.empty() : tensor<4x8xi32>
  %init = linalg.broadcast ins(%b : tensor<8xi32>) outs(%e : tensor<4x8xi32>) dimensions = [0]
  %acc = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<4x16xi8>, tensor<8x16xi8>) outs(%init : tensor<4x8xi32>) attrs = {qnn.contraction = "matmul"} {
  ^bb0(%a: i8, %f: i8, %s: i32):
    %0 = arith.extsi %a : i8 to i32
    %1 = arith.extsi %f : i8 to i32
    %2 = arith.muli %0, %1 : i32
    %3 = arith.addi %s, %2 : i32
    linalg.yield %3 : i32
  } -> tensor<4x8xi32>
  %d = tensor.empty() : tensor<4x8xi8>
  %y = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%acc : tensor<4x8xi32>) outs(%d : tensor<4x8xi8>) {
  ^bb0(%a: i32, %o: i8):
    %0 = arith.trunci %a : i32 to i8
    linalg.yield %0 : i8
  } -> tensor<4x8xi8>
  return %y : tensor<4x8xi8>
}

// -----
// A value that the body captures is an argument too (a lookup table); a scalar constant moves inside.
// CHECK:       func.func private @elementwise_0
// CHECK-SAME:    %[[TABLE:[a-z0-9]+]]: tensor<256xi8>
// CHECK:         %[[ONE:[a-z0-9_]+]] = arith.constant 1 : index
// CHECK:         arith.addi {{.*}}, %[[ONE]]
// CHECK:         tensor.extract %[[TABLE]]
// CHECK-LABEL: func.func @table
#id1 = affine_map<(i) -> (i)>
func.func @table(%x: tensor<4xi8>, %table: tensor<256xi8>) -> tensor<4xi8> {
  %one = arith.constant 1 : index
  %e = tensor.empty() : tensor<4xi8>
  %y = linalg.generic {indexing_maps = [#id1, #id1], iterator_types = ["parallel"]}
      ins(%x : tensor<4xi8>) outs(%e : tensor<4xi8>) {
  ^bb0(%a: i8, %o: i8):
    %0 = arith.index_castui %a : i8 to index
    %1 = arith.addi %0, %one : index
    %2 = tensor.extract %table[%1] : tensor<256xi8>
    linalg.yield %2 : i8
  } -> tensor<4xi8>
  return %y : tensor<4xi8>
}

// -----
// One tensor.empty serves two destinations after cse; the kernel gets two.
// CHECK:       func.func private @elementwise_0
// CHECK-SAME:    (%{{[a-z0-9]+}}: tensor<4xi8>, %[[A:[a-z0-9]+]]: tensor<4xi8>, %[[B:[a-z0-9]+]]: tensor<4xi8>)
// CHECK:         outs(%[[A]], %[[B]]
#id1 = affine_map<(i) -> (i)>
func.func @two_destinations(%x: tensor<4xi8>) -> (tensor<4xi8>, tensor<4xi8>) {
  %e = tensor.empty() : tensor<4xi8>
  %y:2 = linalg.generic {indexing_maps = [#id1, #id1, #id1], iterator_types = ["parallel"]}
      ins(%x : tensor<4xi8>) outs(%e, %e : tensor<4xi8>, tensor<4xi8>) {
  ^bb0(%a: i8, %o: i8, %p: i8):
    linalg.yield %a, %a : i8, i8
  } -> (tensor<4xi8>, tensor<4xi8>)
  return %y#0, %y#1 : tensor<4xi8>, tensor<4xi8>
}

// -----
// A copy into a slice is one kernel with the fill around it: a pad.
// CHECK:       func.func private @insert_slice_0
// CHECK:         linalg.fill
// CHECK:         tensor.extract_slice
// CHECK:         linalg.copy
// CHECK:         tensor.insert_slice
// CHECK-LABEL: func.func @pad
// CHECK:         call @insert_slice_0
// CHECK-NEXT:    return
func.func @pad(%x: tensor<2xi8>) -> tensor<4xi8> {
  %z = arith.constant 3 : i8
  %e = tensor.empty() : tensor<4xi8>
  %f = linalg.fill ins(%z : i8) outs(%e : tensor<4xi8>) -> tensor<4xi8>
  %v = tensor.extract_slice %f[1] [2] [1] : tensor<4xi8> to tensor<2xi8>
  %c = linalg.copy ins(%x : tensor<2xi8>) outs(%v : tensor<2xi8>) -> tensor<2xi8>
  %y = tensor.insert_slice %c into %f[1] [2] [1] : tensor<2xi8> into tensor<4xi8>
  return %y : tensor<4xi8>
}

// -----
// A chain of elementwise ops is cut where fusion would merge more than fusion-limit of them.
// FIRST:       func.func private @elementwise_0
// FIRST-LABEL: func.func @chain
// FIRST:         linalg.generic
// FIRST:         linalg.generic
// FIRST:         call @elementwise_0
// FIRST:         linalg.generic
#id1 = affine_map<(i) -> (i)>
func.func @chain(%x: tensor<4xi8>) -> tensor<4xi8> {
  %e = tensor.empty() : tensor<4xi8>
  %0 = linalg.generic {indexing_maps = [#id1, #id1], iterator_types = ["parallel"]} ins(%x : tensor<4xi8>) outs(%e : tensor<4xi8>) {
  ^bb0(%a: i8, %o: i8):
    %v = arith.addi %a, %a : i8
    linalg.yield %v : i8
  } -> tensor<4xi8>
  %1 = linalg.generic {indexing_maps = [#id1, #id1], iterator_types = ["parallel"]} ins(%0 : tensor<4xi8>) outs(%e : tensor<4xi8>) {
  ^bb0(%a: i8, %o: i8):
    %v = arith.addi %a, %a : i8
    linalg.yield %v : i8
  } -> tensor<4xi8>
  %2 = linalg.generic {indexing_maps = [#id1, #id1], iterator_types = ["parallel"]} ins(%1 : tensor<4xi8>) outs(%e : tensor<4xi8>) {
  ^bb0(%a: i8, %o: i8):
    %v = arith.addi %a, %a : i8
    linalg.yield %v : i8
  } -> tensor<4xi8>
  %3 = linalg.generic {indexing_maps = [#id1, #id1], iterator_types = ["parallel"]} ins(%2 : tensor<4xi8>) outs(%e : tensor<4xi8>) {
  ^bb0(%a: i8, %o: i8):
    %v = arith.addi %a, %a : i8
    linalg.yield %v : i8
  } -> tensor<4xi8>
  return %3 : tensor<4xi8>
}

// -----
// Views and constants cost nothing and stay.
// CHECK-LABEL: func.func @keep_views
// CHECK-NEXT:    tensor.expand_shape
// CHECK-NEXT:    return
func.func @keep_views(%x: tensor<4xi8>) -> tensor<2x2xi8> {
  %y = tensor.expand_shape %x [[0, 1]] output_shape [2, 2] : tensor<4xi8> into tensor<2x2xi8>
  return %y : tensor<2x2xi8>
}
