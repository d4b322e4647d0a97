// RUN: qopt %s -p canonicalize | %filecheck
// CHECK-LABEL: func.func @f
// CHECK-SAME:  %[[A:[a-z0-9]+]]: i32
// CHECK-NEXT:  return %[[A]]
func.func @f(%a: i32) -> i32 {
  %0 = arith.addi %a, %a : i32
  return %a : i32
}
