// Passes of ours and upstream's in one pipeline; both ways to write it; nesting.
// RUN: qopt %s -p canonicalize,cse | %filecheck
// RUN: qopt %s -p canonicalize -p 'func.func(cse)' | %filecheck
// RUN: qopt %s --pass-pipeline='builtin.module(canonicalize{max-iterations=2},outline-kernels,func.func(cse))' | %filecheck
// RUN: qopt < %s -pass-pipeline='any(canonicalize, cse)' | %filecheck
// A pass for functions only is nested by itself.
// RUN: qopt %s -p canonicalize,cse,affine-scalrep -o %t.mlir && qopt %t.mlir | %filecheck

// CHECK-LABEL: func.func @dead_code
// CHECK-SAME:    %[[A:[a-z0-9]+]]: i32
// CHECK-NEXT:    return %[[A]]
func.func @dead_code(%a: i32) -> i32 {
  %0 = arith.addi %a, %a : i32
  return %a : i32
}
