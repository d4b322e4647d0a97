// The compiler's own pipeline up to each level; what one level prints, the next ones read.
// RUN: qopt %s --to=qnn | %filecheck --check-prefix=QNN
// RUN: qopt %s --to=legalized | %filecheck --check-prefix=LEGALIZED
// RUN: qopt %s --to=formed --target=x86-64-v3 | %filecheck --check-prefix=FORMED
// RUN: qopt %s --to=linalg --pipeline=reference -o %t.linalg.mlir && %filecheck --check-prefix=LINALG < %t.linalg.mlir
// RUN: qopt %t.linalg.mlir --to=kernels --pipeline=reference -o %t.kernels.mlir && %filecheck --check-prefix=KERNELS < %t.kernels.mlir
// RUN: qopt %t.linalg.mlir --to=llvm --pipeline=reference | %filecheck --check-prefix=LLVM
// RUN: qopt %t.kernels.mlir --to=llvm --pipeline=reference | %filecheck --check-prefix=LLVM
// RUN: qopt %s --to=asm --pipeline=reference | %filecheck --check-prefix=ASM

// QNN-COUNT-2:     "qnn.requantize"
// LEGALIZED:       "qnn.requantize"
// LEGALIZED-NOT:   "qnn.requantize"
// FORMED:          func.func private @table_0(tensor<4xi8>
// FORMED-SAME:     family = "table", isa = "avx2"
// FORMED:          call @table_0(
// LINALG-NOT:      qnn.requantize
// LINALG:          func.func @main(%{{.*}}: tensor<4xi8> {qnn.name = "input"
// LINALG:          linalg.generic
// LLVM:            define {{.*}}void @{{.*}}(ptr
// ASM:             kernel elementwise_0
// ASM:             elementwise_0:
// ASM:             kernel:
// KERNELS:         func.func private @elementwise_0(%{{.*}}: memref<4xi8>
// KERNELS:         func.func @main(
// KERNELS:         call @elementwise_0(
!q = !quant.uniform<i8:f32, 5.0e-01:3>
!r = !quant.uniform<i8:f32, 2.5e-01:3>
module attributes {qnn.numerics = "reference"} {
  func.func @main(%x: tensor<4x!q> {qnn.name = "input"}) -> (tensor<4x!r> {qnn.name = "output"}) {
    %dead = "qnn.requantize"(%x) : (tensor<4x!q>) -> tensor<4x!q>
    %0 = "qnn.requantize"(%x) : (tensor<4x!q>) -> tensor<4x!r>
    return %0 : tensor<4x!r>
  }
}
