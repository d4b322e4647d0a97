// RUN: qopt %s --pipeline=reference --to=llvm | %filecheck
// RUN: qopt %s --pipeline=reference --to=asm | %filecheck --check-prefix=ASM

// A quantized layer, its sum and its rescale, down to LLVM IR: a kernel's body is private, not inlined, and knows that its
// arguments do not overlap; around it is a function that takes the arguments out of a row; nothing allocates and nothing is copied.

!x = !quant.uniform<i8:f32, 5.0e-02:3>
!w = !quant.uniform<i8:f32, 1.0e-02>

// CHECK:       ; kernel matmul_0
// CHECK-NOT:   malloc
// CHECK-NOT:   memrefCopy
// CHECK:       define internal void @matmul_0(ptr noalias %{{[0-9]+}}, ptr noalias %{{[0-9]+}}, ptr noalias %{{[0-9]+}}
// CHECK-NOT:   malloc
// CHECK:       attributes #{{[0-9]+}} = { noinline }
// CHECK:       define void @kernel(ptr readonly %row, i64 %begin, i64 %end)
// CHECK:       load ptr, ptr %slot0
// CHECK:       call void @matmul_0(ptr %argument0
// CHECK-NEXT:  ret void
// CHECK:       ; kernel elementwise_0
// CHECK-NOT:   ; kernel

// ASM-NOT:     malloc
// ASM:         matmul_0:
// ASM:         kernel:
// ASM-NOT:     memrefCopy
func.func @main(%x: tensor<4x64x!x> {qnn.name = "x"}) -> (tensor<4x20x!x> {qnn.name = "y"}) {
  %w = "qnn.constant"() {value = dense<1> : tensor<20x64xi8>} : () -> tensor<20x64x!w>
  %y = "qnn.fully_connected"(%x, %w) {clamp = array<f32>, operandSegmentSizes = array<i32: 1, 1, 0>}
      : (tensor<4x64x!x>, tensor<20x64x!w>) -> tensor<4x20x!x>
  return %y : tensor<4x20x!x>
}
