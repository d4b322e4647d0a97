// RUN: qopt %s -p cse,canonicalize,symbol-dce --mlir-print-ir-after-all 2>&1 >/dev/null | %filecheck --check-prefix=ALL
// RUN: qopt %s -p cse,canonicalize --mlir-print-ir-before-all 2>&1 >/dev/null | %filecheck --check-prefix=BEFORE-ALL
// RUN: qopt %s -p cse,canonicalize --mlir-print-ir-after=canonicalize 2>&1 >/dev/null | %filecheck --check-prefix=AFTER
// RUN: qopt %s -p 'func.func(cse,canonicalize)' --mlir-print-ir-before=canonicalize 2>&1 >/dev/null | %filecheck --check-prefix=BEFORE
// RUN: qopt %s -p canonicalize,cse,symbol-dce --mlir-print-ir-after-change 2>&1 >/dev/null | %filecheck --check-prefix=CHANGE
// RUN: rm -rf %t && qopt %s -p cse,canonicalize --mlir-print-ir-tree-dir=%t >/dev/null
// RUN: %filecheck --check-prefix=TREE < %t/builtin_module_net/1_canonicalize.mlir
// RUN: ls %t/builtin_module_net | %filecheck --check-prefix=FILES
// RUN: not qopt %s -p 'one-shot-bufferize,cse' --mlir-print-ir-after-failure 2>&1 | %filecheck --check-prefix=FAILURE

// ALL:       // -----// IR Dump After cse (cse) //----- //
// ALL-NEXT:  module @net
// ALL:       // -----// IR Dump After canonicalize (canonicalize) //----- //
// ALL:       // -----// IR Dump After symbol-dce (symbol-dce) //----- //

// BEFORE-ALL:  // -----// IR Dump Before cse (cse) //----- //
// BEFORE-ALL:  arith.subi
// BEFORE-ALL:  // -----// IR Dump Before canonicalize (canonicalize) //----- //

// AFTER-NOT:   cse
// AFTER:       // -----// IR Dump After canonicalize (canonicalize) //----- //
// AFTER-NOT:   IR Dump

// BEFORE-NOT:  IR Dump Before cse
// BEFORE:      // -----// IR Dump Before canonicalize (canonicalize) //----- //
// BEFORE-NOT:  IR Dump

// CHANGE:      // -----// IR Dump After canonicalize (canonicalize) //----- //
// CHANGE-NOT:  IR Dump

// TREE:        IR Dump After canonicalize
// TREE:        module @net

// FILES:       0_cse.mlir
// FILES-NEXT:  1_canonicalize.mlir

// FAILURE:     error: op was not bufferized
// FAILURE:     // -----// IR Dump After one-shot-bufferize Failed (one-shot-bufferize) //----- //
// FAILURE:     qopt: note: pass 'one-shot-bufferize' failed
// FAILURE-NOT: IR Dump
!q = !quant.uniform<i8:f32, 5.0e-01:3>
!r = !quant.uniform<i8:f32, 2.5e-01:3>
module @net {
  func.func @change(%a: i32) -> i32 {
    %0 = arith.constant 0 : i32
    %1 = arith.subi %a, %0 : i32
    return %1 : i32
  }
  func.func @keep_quantized(%x: tensor<4x!q>) -> tensor<4x!r> {
    %0 = "qnn.requantize"(%x) : (tensor<4x!q>) -> tensor<4x!r>
    return %0 : tensor<4x!r>
  }
}
