// A failing pass: its name, and on request the IR it started from with the command that runs it again.
// RUN: not qopt %s -p 'canonicalize,one-shot-bufferize{copy-before-write=true},cse' --mlir-pass-pipeline-crash-reproducer=%t.mlir 2>&1 | %filecheck
// RUN: %filecheck --check-prefix=FILE < %t.mlir
// RUN: not qopt %t.mlir -p 'one-shot-bufferize{copy-before-write=true},cse' 2>&1 | %filecheck --check-prefix=AGAIN

// CHECK:      error: op was not bufferized
// CHECK:      qopt: note: pass 'one-shot-bufferize' failed
// CHECK:      qopt: note: wrote a reproducer: {{.*}}.mlir

// FILE:       // qopt: pass 'one-shot-bufferize' failed on this module
// FILE-NEXT:  // qopt '{{.*}}' -p 'one-shot-bufferize{copy-before-write=true},cse'
// FILE-NOT:   arith.subi
// FILE:       "qnn.requantize"

// AGAIN:      error: op was not bufferized
!q = !quant.uniform<i8:f32, 5.0e-01:3>
!r = !quant.uniform<i8:f32, 2.5e-01:3>
func.func @f(%x: tensor<4x!q>, %a: i32) -> tensor<4x!r> {
  %dead = arith.subi %a, %a : i32
  %0 = "qnn.requantize"(%x) : (tensor<4x!q>) -> tensor<4x!r>
  return %0 : tensor<4x!r>
}
