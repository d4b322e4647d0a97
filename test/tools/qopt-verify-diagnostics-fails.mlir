// What fails: an unexpected diagnostic, a missing one, one of another kind, a comment that cannot be read.
// RUN: not qopt %s --split-input-file --verify-diagnostics 2>&1 >/dev/null | %filecheck
// RUN: not qopt %s --split-input-file --verify-diagnostics=only-expected 2>&1 >/dev/null | %filecheck --check-prefix=ONLY

// CHECK:      qopt-verify-diagnostics-fails.mlir:[[# @LINE + 3]]:3: error: unexpected error: 'func.return' op has 0 operands
// ONLY-NOT:   unexpected
func.func @unexpected() -> i32 {
  return
}

// -----

// CHECK:      qopt-verify-diagnostics-fails.mlir:[[# @LINE + 2]]:1: error: expected error "no such thing" was not produced
// ONLY:       expected error "no such thing" was not produced
// expected-error@below {{no such thing}}
func.func @missing() { return }

// -----

// CHECK:      error: expected warning "has 0 operands" was not produced
// CHECK:      error: 'error' emitted where 'warning' is expected: 'func.return' op has 0 operands
func.func @other_kind() -> i32 {
  // expected-warning@below {{has 0 operands}}
  return
}

// -----

// CHECK:      error: expected-... comment is malformed
// expected-error@+1 has 0 operands
func.func @malformed() { return }
