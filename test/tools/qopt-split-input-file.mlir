// Each part has a module of its own; an error in one part keeps its line number and does not stop the others.
// RUN: not qopt %s --split-input-file 2> %t.err | %filecheck
// RUN: %filecheck --check-prefix=ERR < %t.err

// CHECK:      func.func private @first
// CHECK:      // -----
// CHECK:      // -----
// CHECK:      func.func private @third
func.func private @first()
// -----
// ERR: qopt-split-input-file.mlir:[[# @LINE + 3]]:6: error: custom op 'func.fun' is unknown
// ERR-NEXT: func.fun private @second()
// ERR-NEXT: ^
     func.fun private @second()

// -----

func.func private @third()
