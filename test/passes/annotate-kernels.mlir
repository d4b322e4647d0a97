// RUN: qopt %s -p annotate-kernels | %filecheck

// Different buffers, and different places of one block, never overlap.
// CHECK-LABEL: func.func private @kernel
// CHECK-SAME:    (%{{[a-z0-9]+}}: memref<64xi8> {llvm.noalias}, %{{[a-z0-9]+}}: memref<64xi8> {llvm.noalias})
// CHECK-SAME:    llvm.linkage = #llvm.linkage<internal>
func.func private @kernel(%a: memref<64xi8>, %b: memref<64xi8>) { return }

// One call passes a buffer twice: these two arguments may overlap, the third does not.
// CHECK-LABEL: func.func private @shared
// CHECK-SAME:    (%{{[a-z0-9]+}}: memref<64xi8>, %{{[a-z0-9]+}}: memref<8x8xi8>, %{{[a-z0-9]+}}: memref<64xi8> {llvm.noalias})
func.func private @shared(%a: memref<64xi8>, %b: memref<8x8xi8>, %c: memref<64xi8>) { return }

// CHECK-LABEL: func.func @main
// CHECK-NOT:     llvm.noalias
func.func @main(%x: memref<64xi8>, %arena: memref<128xi8>) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %a = memref.view %arena[%c0][] : memref<128xi8> to memref<64xi8>
  %b = memref.view %arena[%c64][] : memref<128xi8> to memref<64xi8>
  call @kernel(%a, %b) : (memref<64xi8>, memref<64xi8>) -> ()
  %v = memref.expand_shape %x [[0, 1]] output_shape [8, 8] : memref<64xi8> into memref<8x8xi8>
  call @shared(%x, %v, %a) : (memref<64xi8>, memref<8x8xi8>, memref<64xi8>) -> ()
  return
}
