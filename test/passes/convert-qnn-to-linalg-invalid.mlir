// What cannot be converted is an error at its place.
// RUN: qopt %s -p convert-qnn-to-linalg --split-input-file --verify-diagnostics

func.func @dynamic(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
  // expected-error@+1 {{'qnn.tanh' op has the dynamic shape [?, 4], expected static ones}}
  %0 = "qnn.tanh"(%x) : (tensor<?x4xf32>) -> tensor<?x4xf32>
  return %0 : tensor<?x4xf32>
}

// -----

func.func @nested(%x: tensor<4xf32>, %c: i1) -> tensor<4xf32> {
  %0 = scf.if %c -> tensor<4xf32> {
    // expected-error@+1 {{'qnn.tanh' op inside a region of another op, expected directly in a function}}
    %1 = "qnn.tanh"(%x) : (tensor<4xf32>) -> tensor<4xf32>
    scf.yield %1 : tensor<4xf32>
  } else {
    scf.yield %x : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}

// -----

!q = !quant.uniform<i8:f32, 5.0e-01>

func.func @region_with_quantized_results(%x: tensor<4x!q>, %c: i1) -> tensor<4x!q> {
  // expected-error@+1 {{'scf.if' op has regions and quantized results, which cannot be converted}}
  %0 = scf.if %c -> tensor<4x!q> {
    scf.yield %x : tensor<4x!q>
  } else {
    scf.yield %x : tensor<4x!q>
  }
  return %0 : tensor<4x!q>
}

// -----

// expected-error@+1 {{'func.func' op has 2 blocks, expected structured control flow in one}}
func.func @blocks(%x: tensor<4xf32>) -> tensor<4xf32> {
  cf.br ^bb1
^bb1:
  return %x : tensor<4xf32>
}

// -----

// expected-error@+1 {{qnn.numerics: unknown mode 'fast', expected one of reference, xnnpack}}
module attributes {qnn.numerics = "fast"} {
}
