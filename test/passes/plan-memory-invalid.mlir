// RUN: not qopt %s -p plan-memory 2>&1 | %filecheck

// A kernel that allocates would leak.
// CHECK: plan-memory: kernel 'kernel' allocates memory; it must work in its arguments
func.func private @kernel() {
  %a = memref.alloc() : memref<4xi8>
  return
}

func.func @main() {
  call @kernel() : () -> ()
  return
}
