// RUN: qopt %s -p outline-control-flow --split-input-file | %filecheck
// RUN: qopt %s --to=kernels --split-input-file | %filecheck --check-prefix=KERNELS

!q = !quant.uniform<i8:f32, 5.0e-01>

// What a region uses from outside is passed to it; constants are copied into it.
// CHECK:       func.func private @while_0(tensor<i32> {bufferization.access = "read"}, tensor<2x{{.*}}>> {bufferization.access = "read"}) -> tensor<i32> attributes {qnn.control = ["while", "while_0.condition", "while_0.body"]}
// CHECK:       func.func private @if_1(tensor<i1> {{.*}}attributes {qnn.control = ["if", "if_1.then", "if_1.else"]}
// CHECK-LABEL: func.func @main(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<2x{{[^,]*}}, 5.000000e-01>>, %[[N:[a-z0-9]+]]: tensor<i32>, %[[C:[a-z0-9]+]]: tensor<i1>)
// CHECK:         %[[I:.+]] = call @while_0(%[[N]], %[[X]])
// CHECK:         %[[Y:.+]] = call @if_1(%[[C]], %[[X]])
// CHECK:         return %[[Y]], %[[I]]
// CHECK:       module @while_0.condition
// CHECK-NEXT:    func.func @main(%[[A:[a-z0-9]+]]: tensor<i32>, %{{.*}}) -> tensor<i1> {
// CHECK-NEXT:      %[[K:.+]] = "qnn.constant"
// CHECK-NEXT:      %[[L:.+]] = "qnn.compare"(%[[A]], %[[K]])
// CHECK-NEXT:      return %[[L]]
// CHECK:       module @while_0.body
// CHECK:       module @if_1.then
// CHECK:       module @if_1.else

// KERNELS:     func.func @main({{.*}}qnn.role = "arena"
// KERNELS:     call @while_0(
// KERNELS:     module @while_0.condition {{.*}}qnn.arena_bytes
// KERNELS:     func.func @main({{.*}}qnn.role = "output"
func.func @main(%x: tensor<2x!q>, %n: tensor<i32>, %c: tensor<i1>) -> (tensor<2x!q>, tensor<i32>) {
  %limit = "qnn.constant"() {value = dense<3> : tensor<i32>} : () -> tensor<i32>
  %one = "qnn.constant"() {value = dense<1> : tensor<i32>} : () -> tensor<i32>
  %i = scf.while (%a = %n) : (tensor<i32>) -> tensor<i32> {
    %less = "qnn.compare"(%a, %limit) {predicate = "less"} : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %go = tensor.extract %less[] : tensor<i1>
    scf.condition(%go) %a : tensor<i32>
  } do {
  ^bb0(%a: tensor<i32>):
    %unread = "qnn.add"(%x, %x) {clamp = array<f32>} : (tensor<2x!q>, tensor<2x!q>) -> tensor<2x!q>
    %next = "qnn.add"(%a, %one) {clamp = array<f32>} : (tensor<i32>, tensor<i32>) -> tensor<i32>
    scf.yield %next : tensor<i32>
  }
  %holds = tensor.extract %c[] : tensor<i1>
  %y = scf.if %holds -> tensor<2x!q> {
    %sum = "qnn.add"(%x, %x) {clamp = array<f32>} : (tensor<2x!q>, tensor<2x!q>) -> tensor<2x!q>
    scf.yield %sum : tensor<2x!q>
  } else {
    scf.yield %x : tensor<2x!q>
  }
  return %y, %i : tensor<2x!q>, tensor<i32>
}

// -----

!q = !quant.uniform<i8:f32, 5.0e-01>

// A counted loop: what it carries, then whole sequences outside and a slice of each inside, then the rest.
// CHECK:       func.func private @for_0(tensor<1x3x{{[^)]*}}, tensor<5x1x3x{{[^)]*}}, tensor<1x3x{{[^)]*}}) -> (tensor<1x3x{{.*}}>, tensor<5x1x3x{{.*}}>) attributes {qnn.control = ["for", "for_0.body"], qnn.loop = {carried = 1 : i64, count = 5 : i64, reads = array<i64: 1>, writes = array<i64: -1>}}
// CHECK:       func.func @main(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<5x1x3x{{[^,]*}}, 5.000000e-01>>, %[[H:[a-z0-9]+]]: tensor<1x3x{{[^,]*}}, 5.000000e-01>>)
// CHECK-NEXT:    %[[R:.+]]:2 = call @for_0(%[[H]], %[[X]], %[[H]])
// CHECK-NEXT:    return %[[R]]#1, %[[R]]#0
// CHECK:       module @for_0.body
// CHECK-NEXT:    func.func @main(%[[A:[a-z0-9]+]]: tensor<1x3x{{.*}}>>, %[[S:[a-z0-9]+]]: tensor<1x3x{{.*}}>>, %[[C:[a-z0-9]+]]: tensor<1x3x
// CHECK-NEXT:      %[[B:.+]] = "qnn.add"(%[[A]], %[[S]])
// CHECK-NEXT:      %[[D:.+]] = "qnn.add"(%[[B]], %[[C]])
// CHECK-NEXT:      return %[[B]], %[[D]]

// KERNELS:     func.func private @for_0(memref<1x3xi8>, memref<5x1x3xi8>, memref<1x3xi8>, memref<1x3xi8>, memref<5x1x3xi8>, memref<{{[0-9]+}}xi8>) attributes {{.*}}qnn.loop
func.func @main(%x: tensor<5x1x3x!q>, %h: tensor<1x3x!q>) -> (tensor<5x1x3x!q>, tensor<1x3x!q>) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %count = arith.constant 5 : index
  %last = arith.constant 4 : index
  %empty = tensor.empty() : tensor<5x1x3x!q>
  %r:2 = scf.for %t = %zero to %count step %one iter_args(%a = %h, %ys = %empty) -> (tensor<1x3x!q>, tensor<5x1x3x!q>) {
    %u = arith.subi %last, %t : index
    %s = tensor.extract_slice %x[%t, 0, 0] [1, 1, 3] [1, 1, 1] : tensor<5x1x3x!q> to tensor<1x3x!q>
    %b = "qnn.add"(%a, %s) {clamp = array<f32>} : (tensor<1x3x!q>, tensor<1x3x!q>) -> tensor<1x3x!q>
    %d = "qnn.add"(%b, %h) {clamp = array<f32>} : (tensor<1x3x!q>, tensor<1x3x!q>) -> tensor<1x3x!q>
    %more = tensor.insert_slice %d into %ys[%u, 0, 0] [1, 1, 3] [1, 1, 1] : tensor<1x3x!q> into tensor<5x1x3x!q>
    scf.yield %b, %more : tensor<1x3x!q>, tensor<5x1x3x!q>
  }
  return %r#1, %r#0 : tensor<5x1x3x!q>, tensor<1x3x!q>
}
