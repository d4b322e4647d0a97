// RUN: qopt %s | %filecheck
// RUN: qopt %s --mlir-print-op-generic | %filecheck --check-prefix=GENERIC
// RUN: qopt %s --mlir-print-debuginfo | %filecheck --check-prefix=LOC
// RUN: qopt %s --mlir-print-debuginfo --mlir-print-local-scope | %filecheck --check-prefix=LOCAL
// RUN: qopt %s --mlir-elide-elementsattrs-if-larger=3 | %filecheck --check-prefix=ELEMENTS
// RUN: qopt %s --mlir-elide-resource-strings-if-larger=20 | %filecheck --check-prefix=RESOURCES
// RUN: qopt %s --mlir-use-nameloc-as-prefix | %filecheck --check-prefix=NAMES
// RUN: qopt %s --numerics=xnnpack | %filecheck --check-prefix=NUMERICS

// CHECK:          arith.constant dense<[1, 2, 3, 4]>
// CHECK-NEXT:     arith.constant dense_resource<weights>
// CHECK:          weights: "0x0100000005060708090A0B0C"

// GENERIC:        "builtin.module"() ({
// GENERIC:          "arith.constant"() <{value = dense<[1, 2, 3, 4]>

// LOC:            #[[FILE:loc[0-9]*]] = loc("{{.*}}qopt-print-flags.mlir":[[# @LINE + 19]]:
// LOC:            = loc("block/conv"(#[[INNER:loc[0-9]*]]))

// LOCAL:          arith.constant dense<[1, 2, 3, 4]> {{.*}} loc("block/conv"("model.tflite":7:0))

// ELEMENTS:       arith.constant dense_resource<__elided__> : tensor<4xi32>
// ELEMENTS:       weights: "0x0100000005060708090A0B0C"

// RESOURCES:      arith.constant dense<[1, 2, 3, 4]>
// RESOURCES-NEXT: arith.constant dense_resource<weights>
// RESOURCES-NOT:  weights:

// NAMES:          %[[VALUE:block.*conv]] = arith.constant

// NUMERICS:       module attributes {qnn.numerics = "xnnpack"}

func.func @constants() -> (tensor<4xi32>, tensor<8xi8>) {
  %0 = arith.constant dense<[1, 2, 3, 4]> : tensor<4xi32> loc("block/conv"("model.tflite":7:0))
  %1 = arith.constant dense_resource<weights> : tensor<8xi8>
  return %0, %1 : tensor<4xi32>, tensor<8xi8>
}

{-#
  dialect_resources: { builtin: { weights: "0x0100000005060708090A0B0C" } }
#-}
