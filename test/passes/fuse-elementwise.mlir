// RUN: qopt %s -p fuse-elementwise | %filecheck

#id = affine_map<(i) -> (i)>

// A kernel keeps its destination, which upstream's pass would replace with a tensor.empty.
// CHECK-LABEL: func.func private @kernel
// CHECK-SAME:    (%[[X:[a-z0-9]+]]: tensor<4xi8>, %[[OUT:[a-z0-9]+]]: tensor<4xi8>)
// CHECK:         linalg.generic {{.*}} ins(%[[X]] {{.*}} outs(%[[OUT]]
func.func private @kernel(%x: tensor<4xi8>, %out: tensor<4xi8>) -> tensor<4xi8> {
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : tensor<4xi8>) outs(%out : tensor<4xi8>) {
  ^bb0(%a: i8, %o: i8):
    %v = arith.addi %a, %a : i8
    linalg.yield %v : i8
  } -> tensor<4xi8>
  return %0 : tensor<4xi8>
}

// CHECK-LABEL: func.func @main
// CHECK-COUNT-1: linalg.generic
// CHECK:         arith.addi
// CHECK:         arith.muli
// CHECK-NOT:     linalg.generic
// CHECK:         call @kernel
func.func @main(%x: tensor<4xi8>) -> tensor<4xi8> {
  %e = tensor.empty() : tensor<4xi8>
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : tensor<4xi8>) outs(%e : tensor<4xi8>) {
  ^bb0(%a: i8, %o: i8):
    %v = arith.addi %a, %a : i8
    linalg.yield %v : i8
  } -> tensor<4xi8>
  %1 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%0 : tensor<4xi8>) outs(%e : tensor<4xi8>) {
  ^bb0(%a: i8, %o: i8):
    %v = arith.muli %a, %a : i8
    linalg.yield %v : i8
  } -> tensor<4xi8>
  %2 = func.call @kernel(%1, %e) : (tensor<4xi8>, tensor<4xi8>) -> tensor<4xi8>
  return %2 : tensor<4xi8>
}
