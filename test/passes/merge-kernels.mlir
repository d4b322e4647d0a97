// RUN: qopt %s -p 'merge-kernels{variants=1}' --split-input-file | %filecheck

// Equal kernels become one function.
// CHECK:       func.func private @first
// CHECK-NOT:   func.func private
// CHECK:       func.func @equal
// CHECK:         %[[A:[a-z0-9]+]] = call @first(%{{[a-z0-9]+}})
// CHECK-NEXT:    call @first(%[[A]])
func.func private @first(%x: tensor<4xi8>) -> tensor<4xi8> {
  %c = arith.constant 3 : i8
  %0 = tensor.splat %c : tensor<4xi8>
  %1 = arith.addi %x, %0 : tensor<4xi8>
  return %1 : tensor<4xi8>
}
func.func private @second(%x: tensor<4xi8>) -> tensor<4xi8> {
  %c = arith.constant 3 : i8
  %0 = tensor.splat %c : tensor<4xi8>
  %1 = arith.addi %x, %0 : tensor<4xi8>
  return %1 : tensor<4xi8>
}
func.func @equal(%x: tensor<4xi8>) -> tensor<4xi8> {
  %0 = call @first(%x) : (tensor<4xi8>) -> tensor<4xi8>
  %1 = call @second(%0) : (tensor<4xi8>) -> tensor<4xi8>
  return %1 : tensor<4xi8>
}

// -----
// Of more than `variants` kernels that differ in scalars one is left, which takes them as arguments: as
// 32-bit integers where 64 bits hold small ones. What they agree on stays inside.
// CHECK:       func.func private @first(%{{[a-z0-9]+}}: i64, %[[M:[a-z0-9]+]]: i32) -> i64
// CHECK:         %[[WIDE:[a-z0-9]+]] = arith.extsi %[[M]] : i32 to i64
// CHECK:         %[[THREE:[a-z0-9_]+]] = arith.constant 3 : i64
// CHECK:         arith.muli %{{[a-z0-9]+}}, %[[WIDE]]
// CHECK:         arith.shrsi %{{[a-z0-9]+}}, %[[THREE]]
// CHECK-NOT:   func.func private
// CHECK:       func.func @scalars
// CHECK:         %[[FIVE:[a-z0-9_]+]] = arith.constant 5 : i32
// CHECK:         call @first(%{{[a-z0-9]+}}, %[[FIVE]])
// CHECK:         %[[SEVEN:[a-z0-9_]+]] = arith.constant 7 : i32
// CHECK:         call @first(%{{[a-z0-9]+}}, %[[SEVEN]])
func.func private @first(%x: i64) -> i64 {
  %m = arith.constant 5 : i64
  %s = arith.constant 3 : i64
  %0 = arith.muli %x, %m : i64
  %1 = arith.shrsi %0, %s : i64
  return %1 : i64
}
func.func private @second(%x: i64) -> i64 {
  %m = arith.constant 7 : i64
  %s = arith.constant 3 : i64
  %0 = arith.muli %x, %m : i64
  %1 = arith.shrsi %0, %s : i64
  return %1 : i64
}
func.func @scalars(%x: i64) -> i64 {
  %0 = call @first(%x) : (i64) -> i64
  %1 = call @second(%0) : (i64) -> i64
  return %1 : i64
}

// -----
// Dividing by a known number is cheap, by an argument it is not.
// CHECK:       func.func private @by_nine
// CHECK:       func.func private @by_four
// CHECK:       func.func @keep_divisors
func.func private @by_nine(%x: i32) -> i32 {
  %n = arith.constant 9 : i32
  %0 = arith.divsi %x, %n : i32
  return %0 : i32
}
func.func private @by_four(%x: i32) -> i32 {
  %n = arith.constant 4 : i32
  %0 = arith.divsi %x, %n : i32
  return %0 : i32
}
func.func @keep_divisors(%x: i32) -> i32 {
  %0 = call @by_nine(%x) : (i32) -> i32
  %1 = call @by_four(%0) : (i32) -> i32
  return %1 : i32
}

// -----
// A contraction multiplies faster if it knows its zero point.
// CHECK:       func.func private @matmul_0
// CHECK:       func.func private @matmul_1
// CHECK:       func.func @keep_contractions
#id = affine_map<(i) -> (i)>
#one = affine_map<(i) -> ()>
func.func private @matmul_0(%x: tensor<4xi32>, %y: tensor<i32>) -> tensor<i32> {
  %z = arith.constant 3 : i32
  %0 = linalg.generic {indexing_maps = [#id, #one], iterator_types = ["reduction"]}
      ins(%x : tensor<4xi32>) outs(%y : tensor<i32>) attrs = {qnn.contraction = "matmul"} {
  ^bb0(%a: i32, %s: i32):
    %1 = arith.subi %a, %z : i32
    %2 = arith.addi %s, %1 : i32
    linalg.yield %2 : i32
  } -> tensor<i32>
  return %0 : tensor<i32>
}
func.func private @matmul_1(%x: tensor<4xi32>, %y: tensor<i32>) -> tensor<i32> {
  %z = arith.constant 5 : i32
  %0 = linalg.generic {indexing_maps = [#id, #one], iterator_types = ["reduction"]}
      ins(%x : tensor<4xi32>) outs(%y : tensor<i32>) attrs = {qnn.contraction = "matmul"} {
  ^bb0(%a: i32, %s: i32):
    %1 = arith.subi %a, %z : i32
    %2 = arith.addi %s, %1 : i32
    linalg.yield %2 : i32
  } -> tensor<i32>
  return %0 : tensor<i32>
}
func.func @keep_contractions(%x: tensor<4xi32>, %y: tensor<i32>) -> tensor<i32> {
  %0 = call @matmul_0(%x, %y) : (tensor<4xi32>, tensor<i32>) -> tensor<i32>
  %1 = call @matmul_1(%x, %0) : (tensor<4xi32>, tensor<i32>) -> tensor<i32>
  return %1 : tensor<i32>
}
