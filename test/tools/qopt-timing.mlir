// The table goes to stderr, stdout stays IR.
// RUN: qopt %s -p canonicalize,cse --mlir-timing 2>&1 >/dev/null | %filecheck
// RUN: qopt %s -p canonicalize,cse --mlir-timing 2>/dev/null | qopt | %filecheck --check-prefix=IR

// CHECK:     Execution time report
// CHECK:     CanonicalizerPass
// CHECK:     CSEPass
// CHECK:     Total
// IR-NOT:    Execution
// IR:        func.func @f
func.func @f() { return }
