// RUN: qopt %s -p vectorize-kernels | %filecheck
// RUN: not qopt %s -p 'vectorize-kernels{isa=avx512vni}' 2>&1 | %filecheck --check-prefix=UNKNOWN

// Without an instruction set nothing changes.
// UNKNOWN: qopt: error: pass 'vectorize-kernels': unknown instruction set 'avx512vni'; did you mean 'avx512vnni'?

// CHECK:       func.func private @matmul_0
// CHECK:         linalg.fill
// CHECK:         qnn.contraction
// CHECK:         qnn.epilogue
// CHECK:       func.func @keep_loops
// CHECK:         memref.alloc() : memref<4x8xi32>
// CHECK:         call @matmul_0
#x = affine_map<(m, o, k) -> (m, k)>
#w = affine_map<(m, o, k) -> (o, k)>
#y = affine_map<(m, o, k) -> (m, o)>
#id = affine_map<(m, o) -> (m, o)>
memref.global "private" constant @weights : memref<8x16xi8> = dense<1>
func.func private @matmul_0(%x: memref<4x16xi8>, %w: memref<8x16xi8>, %acc: memref<4x8xi32>, %out: memref<4x8xi8>) {
  %b = arith.constant 2 : i32
  linalg.fill ins(%b : i32) outs(%acc : memref<4x8xi32>)
  linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : memref<4x16xi8>, memref<8x16xi8>) outs(%acc : memref<4x8xi32>) attrs = {qnn.contraction = "matmul"} {
  ^bb0(%a: i8, %f: i8, %s: i32):
    %0 = arith.extsi %a : i8 to i32
    %1 = arith.extsi %f : i8 to i32
    %2 = arith.muli %0, %1 : i32
    %3 = arith.addi %s, %2 : i32
    linalg.yield %3 : i32
  }
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%acc : memref<4x8xi32>) outs(%out : memref<4x8xi8>)
      attrs = {qnn.epilogue = {rounding = "exact", scales = array<f64: 1.0>, multipliers = array<i64: 1>, shifts = array<i64: 0>, zero_point = 0, low = -128, high = 127, storage = "i8"}} {
  ^bb0(%a: i32, %o: i8):
    %0 = arith.trunci %a : i32 to i8
    linalg.yield %0 : i8
  }
  return
}
func.func @keep_loops(%x: memref<4x16xi8>, %out: memref<4x8xi8>) {
  %w = memref.get_global @weights : memref<8x16xi8>
  %acc = memref.alloc() : memref<4x8xi32>
  call @matmul_0(%x, %w, %acc, %out) : (memref<4x16xi8>, memref<8x16xi8>, memref<4x8xi32>, memref<4x8xi8>) -> ()
  return
}
