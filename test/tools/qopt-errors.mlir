// Diagnostics: file, line, column, message; the source line; a caret. Notes likewise; a model's tensor is named.
// RUN: not qopt %s --split-input-file 2>&1 >/dev/null | %filecheck
// RUN: not qopt --split-input-file < %s 2>&1 >/dev/null | %filecheck --check-prefix=STDIN

// CHECK:      {{.*}}qopt-errors.mlir:[[# @LINE + 4]]:3: error: 'func.return' op has 0 operands, but enclosing function (@f) returns 1
// CHECK-NEXT: {{^}}  return
// CHECK-NEXT: {{^}}  ^
func.func @f() -> i32 {
  return
}

// -----

// The caret stands under characters, not under UTF-8 bytes, and after tabs.
// CHECK:      qopt-errors.mlir:[[# @LINE + 4]]:{{[0-9]+}}: error: use of undeclared SSA value name
// CHECK-NEXT: {{^}}	return %b : i32 loc("größer")
// CHECK-NEXT: {{^}}	       ^
func.func @g() -> i32 {
	return %b : i32 loc("größer")
}

// -----

// CHECK:      model.tflite: error: op 12, output 'block1/conv': 'func.return' op has 0 operands
func.func @h() -> i32 {
  return loc("block1/conv"("model.tflite":12:0))
}

// -----

// CHECK:      qopt-errors.mlir:[[# @LINE + 5]]:1: error: redefinition of symbol named 'twice'
// CHECK-NEXT: func.func @twice() { return }
// CHECK-NEXT: ^
// CHECK:      qopt-errors.mlir:[[# @LINE + 1]]:1: note: see existing symbol definition here
func.func @twice() { return }
func.func @twice() { return }

// STDIN:      <stdin>:[[# @LINE - 29]]:3: error:
