// RUN: qopt %s -p plan-memory --split-input-file | %filecheck

// Three buffers in a row: the first and the third are never alive together and share a place. The returned
// one is the output argument. 256 + 128 bytes of arena.
// CHECK:       module attributes {qnn.arena_bytes = 384 : i64}
// CHECK-LABEL: func.func @row
// CHECK-SAME:    (%[[X:[a-z0-9]+]]: memref<4xi8> {qnn.name = "x"},
// CHECK-SAME:     %[[OUT:[a-z0-9]+]]: memref<4xi8> {qnn.name = "y", qnn.role = "output"},
// CHECK-SAME:     %[[ARENA:[a-z0-9]+]]: memref<384xi8> {qnn.role = "arena"})
// CHECK:         %[[ZERO:[a-z0-9_]+]] = arith.constant 0 : index
// CHECK:         %[[A:[a-z0-9_]+]] = memref.view %[[ARENA]][%[[ZERO]]][] : memref<384xi8> to memref<64xi32>
// CHECK:         %[[AT:[a-z0-9_]+]] = arith.constant 256 : index
// CHECK:         %[[B:[a-z0-9_]+]] = memref.view %[[ARENA]][%[[AT]]][] : memref<384xi8> to memref<100xi8>
// CHECK:         call @step(%[[A]], %[[B]])
// CHECK:         memref.view %[[ARENA]][{{.*}}][] : memref<384xi8> to memref<200xi8>
// CHECK:         memref.view %[[OUT]][{{.*}}][] : memref<4xi8> to memref<4xi8>
// CHECK:         return
// CHECK-NOT:     memref.alloc
func.func private @start(memref<4xi8>, memref<64xi32>)
func.func private @step(memref<64xi32>, memref<100xi8>)
func.func private @next(memref<100xi8>, memref<200xi8>)
func.func private @end(memref<200xi8>, memref<4xi8>)

func.func @row(%x: memref<4xi8> {qnn.name = "x"}) -> (memref<4xi8> {qnn.name = "y"}) {
  %a = memref.alloc() : memref<64xi32>
  call @start(%x, %a) : (memref<4xi8>, memref<64xi32>) -> ()
  %b = memref.alloc() : memref<100xi8>
  call @step(%a, %b) : (memref<64xi32>, memref<100xi8>) -> ()
  %c = memref.alloc() : memref<200xi8>
  call @next(%b, %c) : (memref<100xi8>, memref<200xi8>) -> ()
  %d = memref.alloc() : memref<4xi8>
  call @end(%c, %d) : (memref<200xi8>, memref<4xi8>) -> ()
  return %d : memref<4xi8>
}

// -----
// A view of a buffer keeps it alive: both need a place of their own.
// CHECK:       module attributes {qnn.arena_bytes = 128 : i64}
func.func private @write(memref<64xi8>)
func.func private @use(memref<8x8xi8>, memref<64xi8>)

func.func @views() {
  %a = memref.alloc() : memref<64xi8>
  call @write(%a) : (memref<64xi8>) -> ()
  %v = memref.expand_shape %a [[0, 1]] output_shape [8, 8] : memref<64xi8> into memref<8x8xi8>
  %b = memref.alloc() : memref<64xi8>
  call @write(%b) : (memref<64xi8>) -> ()
  call @use(%v, %b) : (memref<8x8xi8>, memref<64xi8>) -> ()
  return
}

// -----
// An input that is returned, and a buffer that is returned twice, are copied.
// CHECK-LABEL: func.func @copies
// CHECK-SAME:    (%[[X:[a-z0-9]+]]: memref<4xi8>, %[[O0:[a-z0-9]+]]: {{.*}}, %[[O1:[a-z0-9]+]]: {{.*}}, %[[O2:[a-z0-9]+]]: {{.*}}, %
// CHECK:         %[[A:[a-z0-9_]+]] = memref.view %[[O1]]
// CHECK:         call @write(%[[A]])
// CHECK:         %[[V0:[a-z0-9_]+]] = memref.view %[[O0]]
// CHECK:         memref.copy %[[X]], %[[V0]]
// CHECK:         %[[V2:[a-z0-9_]+]] = memref.view %[[O2]]
// CHECK:         memref.copy %[[A]], %[[V2]]
func.func private @write(memref<4xi8>)

func.func @copies(%x: memref<4xi8>) -> (memref<4xi8>, memref<4xi8>, memref<4xi8>) {
  %a = memref.alloc() : memref<4xi8>
  call @write(%a) : (memref<4xi8>) -> ()
  return %x, %a, %a : memref<4xi8>, memref<4xi8>, memref<4xi8>
}
