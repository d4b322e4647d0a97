// RUN: qopt %s -p detach-launch-results | %filecheck
// RUN: qopt %s -p 'detach-launch-results,one-shot-bufferize{bufferize-function-boundaries function-boundary-type-conversion=identity-layout-map},allocate-launch-results' | %filecheck --check-prefix=BUFFERS

// The result of a launch is no operand of it. Other declarations stay.
// CHECK:      func.func private @sums_0(%{{.*}}: tensor<4xi8> {bufferization.access = "read"}) -> tensor<4xi8>
// CHECK-NEXT:   %[[NEW:.*]] = tensor.empty() : tensor<4xi8>
// CHECK-NEXT:   return %[[NEW]] : tensor<4xi8>
// CHECK-NEXT: }
// CHECK-NEXT: func.func private @other(tensor<4xi8>) -> tensor<4xi8>{{$}}

// Afterwards the body is gone, and each call has a buffer.
// BUFFERS:      func.func private @sums_0(memref<4xi8>, memref<4xi8>) attributes {qnn.launches = []}
// BUFFERS-NEXT: func.func private @other
// BUFFERS:        %[[A:.*]] = memref.alloc() : memref<4xi8>
// BUFFERS-NEXT:   call @sums_0(%arg0, %[[A]]) : (memref<4xi8>, memref<4xi8>) -> ()
// BUFFERS-NEXT:   return %[[A]] : memref<4xi8>
func.func private @sums_0(tensor<4xi8> {bufferization.access = "read"}) -> tensor<4xi8> attributes {qnn.launches = []}
func.func private @other(tensor<4xi8>) -> tensor<4xi8>
func.func @main(%x: tensor<4xi8>) -> tensor<4xi8> {
  %0 = call @sums_0(%x) : (tensor<4xi8>) -> tensor<4xi8>
  return %0 : tensor<4xi8>
}
