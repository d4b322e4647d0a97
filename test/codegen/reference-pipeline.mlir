// RUN: qopt %s --pipeline=reference --to=llvm | %filecheck
// RUN: qopt %s --pipeline=reference --to=asm | %filecheck --check-prefix=ASM

// A quantized layer, one kernel, down to LLVM IR: kernels are private, not inlined, and know that their arguments do not
// overlap; @main is a flat list of calls on places in the arena and the constant block; nothing allocates
// and nothing is copied.

!x = !quant.uniform<i8:f32, 5.0e-02:3>
!w = !quant.uniform<i8:f32, 1.0e-02>

// CHECK-NOT:   malloc
// CHECK-NOT:   memrefCopy
// CHECK:       define internal void @matmul_0(ptr noalias %{{[0-9]+}}, ptr noalias %{{[0-9]+}}, ptr noalias %{{[0-9]+}}
// CHECK-NOT:   malloc
// CHECK-NOT:   define internal void @elementwise
// CHECK:       define internal void @zeropoint_network(ptr %[[X:[0-9]+]], ptr %{{[0-9]+}}, ptr %{{[0-9]+}}, ptr %{{[0-9]+}})
// CHECK:       call void @matmul_0(
// CHECK-NEXT:  ret void
// CHECK:       attributes #{{[0-9]+}} = { noinline }
// CHECK:       define void @zeropoint_main(ptr readonly %table)

// ASM-NOT:     malloc
// ASM:         zeropoint_main
// ASM-NOT:     memrefCopy
func.func @main(%x: tensor<4x64x!x> {qnn.name = "x"}) -> (tensor<4x20x!x> {qnn.name = "y"}) {
  %w = "qnn.constant"() {value = dense<1> : tensor<20x64xi8>} : () -> tensor<20x64x!w>
  %y = "qnn.fully_connected"(%x, %w) {clamp = array<f32>, operandSegmentSizes = array<i32: 1, 1, 0>}
      : (tensor<4x64x!x>, tensor<20x64x!w>) -> tensor<4x20x!x>
  return %y : tensor<4x20x!x>
}
