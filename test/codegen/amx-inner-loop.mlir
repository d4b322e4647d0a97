// RUN: qopt %s --target=x86-64-amx --to=asm | %filecheck

// The inner loop of a 3x3 convolution with AMX: a step of 64 bytes is four products of tiles, for which four tiles are
// loaded; between two steps some rows of the block before are rescaled. Only addresses are on the stack.

!x = !quant.uniform<u8:f32, 0.5:3>
!w = !quant.uniform<i8:f32, 0.25>
!b = !quant.uniform<i32:f32, 0.125>
!y = !quant.uniform<u8:f32, 40.0:0>

// CHECK:       # kernel amx_conv2d
// CHECK:       ldtilecfg
// Results start with the bias.
// CHECK-COUNT-4: tileloadd
// CHECK-NOT:   tileloadd
// CHECK:       .p2align
// CHECK:       tileloadd
// CHECK:       tdpbusd
// CHECK:       tdpbusd
// CHECK:       tdpbusd
// CHECK:       tdpbusd
// CHECK-NOT:   tdpbusd
// CHECK:       vpackuswb
// CHECK-NOT:   {{zmm[0-9]+, [0-9]*\(%rsp\)}}
// CHECK:       vmovdqu8
// CHECK-NOT:   tileloadd
// CHECK-COUNT-4: tilestored
// CHECK-NOT:   tilestored
// CHECK:       tilerelease
func.func @main(%x: tensor<1x14x14x128x!x>) -> tensor<1x14x14x64x!y> {
  %w = "qnn.constant"() {value = dense<1> : tensor<64x3x3x128xi8>} : () -> tensor<64x3x3x128x!w>
  %b = "qnn.constant"() {value = dense<7> : tensor<64xi32>} : () -> tensor<64x!b>
  %y = "qnn.conv2d"(%x, %w, %b) {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding = array<i64: 1, 1, 1, 1>, groups = 1 : i64, clamp = array<f32>, operandSegmentSizes = array<i32: 1, 1, 1>}
    : (tensor<1x14x14x128x!x>, tensor<64x3x3x128x!w>, tensor<64x!b>) -> tensor<1x14x14x64x!y>
  return %y : tensor<1x14x14x64x!y>
}
