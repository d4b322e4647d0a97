// RUN: qopt %s -p externalize-constants | %filecheck

// Each global is placed once, on a multiple of 64 bytes; the data stays with the module.
// CHECK:       module attributes {
// CHECK-SAME:    qnn.constant_offsets = array<i64: 0, 64>
// CHECK-SAME:    qnn.constants = [dense<[1, 2, 3]> : tensor<3xi8>, dense<7> : tensor<4xi32>]
// CHECK-NOT:   memref.global
// CHECK:       func.func @main(%{{[a-z0-9]+}}: memref<4xi32>, %[[BLOCK:[a-z0-9]+]]: memref<128xi8> {qnn.role = "constants"})
// CHECK:         %[[ZERO:[a-z0-9_]+]] = arith.constant 0 : index
// CHECK:         %[[A:[a-z0-9_]+]] = memref.view %[[BLOCK]][%[[ZERO]]][] : memref<128xi8> to memref<3xi8>
// CHECK:         %[[AT:[a-z0-9_]+]] = arith.constant 64 : index
// CHECK:         %[[B:[a-z0-9_]+]] = memref.view %[[BLOCK]][%[[AT]]][] : memref<128xi8> to memref<4xi32>
// CHECK:         call @kernel(%[[A]], %[[B]])
// CHECK:         call @kernel({{.*}}, %[[B]])
memref.global "private" constant @a : memref<3xi8> = dense<[1, 2, 3]> {alignment = 64 : i64}
memref.global "private" constant @b : memref<4xi32> = dense<7> {alignment = 64 : i64}

func.func private @kernel(memref<3xi8>, memref<4xi32>)

func.func @main(%x: memref<4xi32>) {
  %a = memref.get_global @a : memref<3xi8>
  %b = memref.get_global @b : memref<4xi32>
  call @kernel(%a, %b) : (memref<3xi8>, memref<4xi32>) -> ()
  %a2 = memref.get_global @a : memref<3xi8>
  call @kernel(%a2, %b) : (memref<3xi8>, memref<4xi32>) -> ()
  return
}
