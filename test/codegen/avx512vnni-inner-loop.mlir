// REQUIRES: avx512vnni
// RUN: qopt %s --to=asm | %filecheck

// The inner loop of a 1x1 convolution: six pixels times four vectors of channels. Every filter vector is loaded once for six
// dot products, every pixel is broadcast once for four, and no accumulator leaves its register.

!x = !quant.uniform<u8:f32, 0.5:3>
!w = !quant.uniform<i8:f32, 0.25>
!b = !quant.uniform<i32:f32, 0.125>
!y = !quant.uniform<u8:f32, 40.0:0>

// CHECK-LABEL: conv2d_0_avx512vnni:
// CHECK-NOT:   rsp
// The epilogue, which stands before the loop: 32-bit products, no division, nothing on the stack.
// CHECK-NOT:   vpmullq
// CHECK-NOT:   div
// CHECK-NOT:   rsp
// CHECK:       vpmuldq
// CHECK:       vpsravq
// CHECK-NOT:   vpmullq
// CHECK-NOT:   rsp
// CHECK-COUNT-24: vpdpbusd
// CHECK-NOT:   vpdpbusd
// CHECK-NOT:   rsp
// CHECK:       jle
// CHECK-NOT:   rsp
// CHECK:       retq
func.func @main(%x: tensor<1x14x14x64x!x>) -> tensor<1x14x14x64x!y> {
  %w = "qnn.constant"() {value = dense<1> : tensor<64x1x1x64xi8>} : () -> tensor<64x1x1x64x!w>
  %b = "qnn.constant"() {value = dense<7> : tensor<64xi32>} : () -> tensor<64x!b>
  %y = "qnn.conv2d"(%x, %w, %b) {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding = array<i64: 0, 0, 0, 0>, groups = 1 : i64, clamp = array<f32>, operandSegmentSizes = array<i32: 1, 1, 1>}
    : (tensor<1x14x14x64x!x>, tensor<64x1x1x64x!w>, tensor<64x!b>) -> tensor<1x14x14x64x!y>
  return %y : tensor<1x14x14x64x!y>
}
