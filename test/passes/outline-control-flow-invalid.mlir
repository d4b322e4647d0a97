// RUN: not qopt %s -p outline-control-flow --split-input-file 2>&1 | %filecheck

// CHECK: error: 'scf.for': its bounds are not 0 to a constant by 1
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %one = arith.constant 1 : index
  %count = arith.constant 5 : index
  %r = scf.for %t = %one to %count step %one iter_args(%a = %x) -> (tensor<4xf32>) {
    %b = "qnn.add"(%a, %a) {clamp = array<f32>} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    scf.yield %b : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}

// -----

// CHECK: error: 'scf.for': 'tensor.extract_slice' takes no single step of a sequence of 2
func.func @main(%x: tensor<4x3xf32>, %h: tensor<3xf32>) -> tensor<3xf32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %count = arith.constant 2 : index
  %r = scf.for %t = %zero to %count step %one iter_args(%a = %h) -> (tensor<3xf32>) {
    %s = tensor.extract_slice %x[%t, 0] [1, 3] [1, 1] : tensor<4x3xf32> to tensor<3xf32>
    %b = "qnn.add"(%a, %s) {clamp = array<f32>} : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
    scf.yield %b : tensor<3xf32>
  }
  return %r : tensor<3xf32>
}

// -----

// CHECK: error: 'scf.for': a sequence that it writes is read
func.func @main(%h: tensor<3xf32>, %ys: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %count = arith.constant 2 : index
  %r = scf.for %t = %zero to %count step %one iter_args(%a = %ys) -> (tensor<2x3xf32>) {
    %twice = "qnn.add"(%a, %a) {clamp = array<f32>} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
    %next = tensor.insert_slice %h into %a[%t, 0] [1, 3] [1, 1] : tensor<3xf32> into tensor<2x3xf32>
    scf.yield %next : tensor<2x3xf32>
  }
  return %r : tensor<2x3xf32>
}
