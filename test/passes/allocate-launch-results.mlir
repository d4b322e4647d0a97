// RUN: qopt %s -p allocate-launch-results | %filecheck

// The call gets a buffer of @main's; who reads what was bufferization's matter and is gone. Kernels may read past
// their inputs' ends: the arena ends later.
// CHECK:      module attributes {qnn.arena_slack = 128 : i64}
// CHECK:      func.func private @copy_0(memref<4xi8>, memref<4xi8>) attributes {qnn.launches = []}
// CHECK-NOT:  bufferization.access
// CHECK:      func.func private @other(memref<4xi8>) -> memref<4xi8>
// CHECK:      func.func @main
// CHECK:        %[[OUT:.*]] = memref.alloc() : memref<4xi8>
// CHECK:        call @copy_0(%arg0, %[[OUT]]) : (memref<4xi8>, memref<4xi8>) -> ()
// CHECK:        call @other(%[[OUT]]) : (memref<4xi8>) -> memref<4xi8>
func.func private @copy_0(memref<4xi8> {bufferization.access = "read"}) -> memref<4xi8> attributes {qnn.launches = []}
func.func private @other(memref<4xi8>) -> memref<4xi8>
func.func @main(%x: memref<4xi8>) -> memref<4xi8> {
  %0 = call @copy_0(%x) : (memref<4xi8>) -> memref<4xi8>
  %1 = call @other(%0) : (memref<4xi8>) -> memref<4xi8>
  return %1 : memref<4xi8>
}
