// Every way to say where a diagnostic is expected.
// RUN: qopt %s --split-input-file --verify-diagnostics
// RUN: qopt %s --split-input-file --verify-diagnostics=only-expected

func.func @same_line() -> i32 { return } // expected-error {{has 0 operands, but enclosing function}}

// -----

// expected-error@+2 {{has 0 operands}}
func.func @lines_ahead() -> i32 {
  return
}

// -----

func.func @lines_back() -> i32 {
  return
  // expected-error@-1 {{has 0 operands}}
}

// -----

func.func @below() -> i32 {
  // Other comments of the kind are not counted.
  // expected-error-re@below {{has {{[0-9]+}} operands, but {{.*}} returns 1}}
  return
}

// -----

func.func @above() -> i32 {
  return
  // expected-error@above {{has 0 operands}}
}

// -----

// expected-error@* {{has 0 operands}}
func.func @anywhere() -> i32 {
  return
}

// -----

func.func @redefined() { return } // expected-note {{see existing symbol definition here}}
func.func @redefined() { return } // expected-error {{redefinition of symbol named 'redefined'}}

// -----

// Nothing expected, nothing emitted.
func.func @silent() { return }
