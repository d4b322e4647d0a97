// The stage `legalized` for a target: rules obeyed, what they forced folded. Without a target ops stay as they are.
// RUN: qopt %s --to=legalized --target=tflite --verify-params | %filecheck
// RUN: qopt %s --to=legalized | %filecheck --check-prefix=FREE
// RUN: qopt %s --to=llvm --target=tflite | %filecheck --check-prefix=LLVM

// CHECK:      module attributes {{{.*}}qnn.target = "tflite"
// FREE-NOT:   qnn.target
// LLVM:       define {{.*}}void @{{.*}}(ptr

!a = !quant.uniform<i8:f32, 5.0e-01:3>
!b = !quant.uniform<i8:f32, 2.5e-01:-5>

// The addition makes what the reshape forced; the model's own requantize stays.
// CHECK:      %[[SUM:.*]] = "qnn.add"({{.*}} -> tensor<2x4x!quant.uniform<i8:f32, 2.500000e-01:-5>>
// CHECK-NEXT: %[[MOVED:.*]] = "qnn.reshape"(%[[SUM]]) : {{.*}} -> tensor<8x!quant.uniform<i8:f32, 2.500000e-01:-5>>
// CHECK-NEXT: %[[OWN:.*]] = "qnn.requantize"(%[[MOVED]]) : {{.*}} -> tensor<8x!quant.uniform<i8:f32, 5.000000e-01:3>>
// CHECK-NEXT: return %[[OWN]]
// FREE:       "qnn.add"({{.*}} -> tensor<2x4x!quant.uniform<i8:f32, 5.000000e-01:3>>
// FREE-NEXT:  "qnn.reshape"({{.*}} -> tensor<8x!quant.uniform<i8:f32, 2.500000e-01:-5>>
func.func @main(%x: tensor<2x4x!a>) -> tensor<8x!a> {
  %s = "qnn.add"(%x, %x) {clamp = array<f32>} : (tensor<2x4x!a>, tensor<2x4x!a>) -> tensor<2x4x!a>
  %r = "qnn.reshape"(%s) : (tensor<2x4x!a>) -> tensor<8x!b>
  %q = "qnn.requantize"(%r) : (tensor<8x!b>) -> tensor<8x!a>
  return %q : tensor<8x!a>
}
