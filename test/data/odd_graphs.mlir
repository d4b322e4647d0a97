// Graphs at the edge of what legalization meets, for test/unit/test_odd_targets.py: a function each.
// -----
!a = !quant.uniform<i8:f32, 0.5:3>
!b = !quant.uniform<i8:f32, 0.25:-5>
!c = !quant.uniform<u8:f32, 0.125:100>
!n = !quant.uniform<i8<-127:127>:f32, 0.125:5>
!s = !quant.uniform<i16:f32, 0.001>
!i = !quant.uniform<i32:f32, 0.001>
!w = !quant.uniform<i8:f32:0, {0.1,0.2}>
!wt = !quant.uniform<i8:f32, 0.1>
func.func @identity(%x: tensor<2x4x!a>) -> tensor<2x4x!a> {
 return %x : tensor<2x4x!a>
}
// -----
!a = !quant.uniform<i8:f32, 0.5:3>
!b = !quant.uniform<i8:f32, 0.25:-5>
!c = !quant.uniform<u8:f32, 0.125:100>
!n = !quant.uniform<i8<-127:127>:f32, 0.125:5>
!s = !quant.uniform<i16:f32, 0.001>
!i = !quant.uniform<i32:f32, 0.001>
!w = !quant.uniform<i8:f32:0, {0.1,0.2}>
!wt = !quant.uniform<i8:f32, 0.1>
func.func @identity_twice(%x: tensor<2x4x!a>) -> (tensor<2x4x!a>, tensor<2x4x!a>, tensor<8x!b>) {
 %r = "qnn.reshape"(%x) : (tensor<2x4x!a>) -> tensor<8x!b>
 return %x, %x, %r : tensor<2x4x!a>, tensor<2x4x!a>, tensor<8x!b>
}
// -----
!a = !quant.uniform<i8:f32, 0.5:3>
!b = !quant.uniform<i8:f32, 0.25:-5>
!c = !quant.uniform<u8:f32, 0.125:100>
!n = !quant.uniform<i8<-127:127>:f32, 0.125:5>
!s = !quant.uniform<i16:f32, 0.001>
!i = !quant.uniform<i32:f32, 0.001>
!w = !quant.uniform<i8:f32:0, {0.1,0.2}>
!wt = !quant.uniform<i8:f32, 0.1>
func.func @concat_same(%x: tensor<2x4x!a>) -> (tensor<4x4x!b>, tensor<4x4x!a>) {
 %r = "qnn.concat"(%x, %x) {axis = 0 : i64, operandSegmentSizes = array<i32: 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>} : (tensor<2x4x!a>, tensor<2x4x!a>) -> tensor<4x4x!b>
 %t = "qnn.concat"(%x, %x) {axis = 0 : i64, operandSegmentSizes = array<i32: 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>} : (tensor<2x4x!a>, tensor<2x4x!a>) -> tensor<4x4x!a>
 return %r, %t : tensor<4x4x!b>, tensor<4x4x!a>
}
// -----
!a = !quant.uniform<i8:f32, 0.5:3>
!b = !quant.uniform<i8:f32, 0.25:-5>
!c = !quant.uniform<u8:f32, 0.125:100>
!n = !quant.uniform<i8<-127:127>:f32, 0.125:5>
!s = !quant.uniform<i16:f32, 0.001>
!i = !quant.uniform<i32:f32, 0.001>
!w = !quant.uniform<i8:f32:0, {0.1,0.2}>
!wt = !quant.uniform<i8:f32, 0.1>
func.func @concat_const(%x: tensor<2x4x!a>) -> (tensor<4x4x!b>) {
 %c = "qnn.constant"() {value = dense<7> : tensor<2x4xi8>} : () -> tensor<2x4x!c>
 %r = "qnn.concat"(%x, %c) {axis = 0 : i64, operandSegmentSizes = array<i32: 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>} : (tensor<2x4x!a>, tensor<2x4x!c>) -> tensor<4x4x!b>
 return %r : tensor<4x4x!b>
}
// -----
!a = !quant.uniform<i8:f32, 0.5:3>
!b = !quant.uniform<i8:f32, 0.25:-5>
!c = !quant.uniform<u8:f32, 0.125:100>
!n = !quant.uniform<i8<-127:127>:f32, 0.125:5>
!s = !quant.uniform<i16:f32, 0.001>
!i = !quant.uniform<i32:f32, 0.001>
!w = !quant.uniform<i8:f32:0, {0.1,0.2}>
!wt = !quant.uniform<i8:f32, 0.1>
func.func @concat_consts(%x: tensor<2x4x!a>) -> (tensor<4x4x!b>, tensor<2x4x!c>) {
 %c = "qnn.constant"() {value = dense<7> : tensor<2x4xi8>} : () -> tensor<2x4x!c>
 %r = "qnn.concat"(%c, %c) {axis = 0 : i64, operandSegmentSizes = array<i32: 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>} : (tensor<2x4x!c>, tensor<2x4x!c>) -> tensor<4x4x!b>
 return %r, %c : tensor<4x4x!b>, tensor<2x4x!c>
}
// -----
!a = !quant.uniform<i8:f32, 0.5:3>
!b = !quant.uniform<i8:f32, 0.25:-5>
!c = !quant.uniform<u8:f32, 0.125:100>
!n = !quant.uniform<i8<-127:127>:f32, 0.125:5>
!s = !quant.uniform<i16:f32, 0.001>
!i = !quant.uniform<i32:f32, 0.001>
!w = !quant.uniform<i8:f32:0, {0.1,0.2}>
!wt = !quant.uniform<i8:f32, 0.1>
func.func @const_out(%x: tensor<2x4x!a>) -> (tensor<8x!b>) {
 %c = "qnn.constant"() {value = dense<7> : tensor<2x4xi8>} : () -> tensor<2x4x!c>
 %r = "qnn.reshape"(%c) : (tensor<2x4x!c>) -> tensor<8x!b>
 return %r : tensor<8x!b>
}
// -----
!a = !quant.uniform<i8:f32, 0.5:3>
!b = !quant.uniform<i8:f32, 0.25:-5>
!c = !quant.uniform<u8:f32, 0.125:100>
!n = !quant.uniform<i8<-127:127>:f32, 0.125:5>
!s = !quant.uniform<i16:f32, 0.001>
!i = !quant.uniform<i32:f32, 0.001>
!w = !quant.uniform<i8:f32:0, {0.1,0.2}>
!wt = !quant.uniform<i8:f32, 0.1>
func.func @diamond(%x: tensor<2x4x!a>) -> (tensor<2x4x!b>, tensor<8x!n>) {
 %l = "qnn.logistic"(%x) : (tensor<2x4x!a>) -> tensor<2x4x!b>
 %t = "qnn.tanh"(%l) : (tensor<2x4x!b>) -> tensor<2x4x!a>
 %u = "qnn.clamp"(%l) {clamp = array<f32: 0.0, 6.0>} : (tensor<2x4x!b>) -> tensor<2x4x!n>
 %s = "qnn.add"(%t, %u) {clamp = array<f32>} : (tensor<2x4x!a>, tensor<2x4x!n>) -> tensor<2x4x!b>
 %q = "qnn.add"(%s, %s) {clamp = array<f32>} : (tensor<2x4x!b>, tensor<2x4x!b>) -> tensor<2x4x!b>
 %r = "qnn.reshape"(%l) : (tensor<2x4x!b>) -> tensor<8x!n>
 return %q, %r : tensor<2x4x!b>, tensor<8x!n>
}
// -----
!a = !quant.uniform<i8:f32, 0.5:3>
!b = !quant.uniform<i8:f32, 0.25:-5>
!c = !quant.uniform<u8:f32, 0.125:100>
!n = !quant.uniform<i8<-127:127>:f32, 0.125:5>
!s = !quant.uniform<i16:f32, 0.001>
!i = !quant.uniform<i32:f32, 0.001>
!w = !quant.uniform<i8:f32:0, {0.1,0.2}>
!wt = !quant.uniform<i8:f32, 0.1>
func.func @fc(%x: tensor<2x4x!a>) -> (tensor<2x2x!b>, tensor<2x2x!i>) {
 %w = "qnn.constant"() {value = dense<7> : tensor<2x4xi8>} : () -> tensor<2x4x!w>
 %b = "qnn.constant"() {value = dense<3> : tensor<2xi32>} : () -> tensor<2x!quant.uniform<i32:f32:0, {0.05,0.1}>>
 %v = "qnn.constant"() {value = dense<7> : tensor<2x4xi8>} : () -> tensor<2x4x!wt>
 %r = "qnn.fully_connected"(%x, %w, %b) {clamp = array<f32>, operandSegmentSizes = array<i32: 1, 1, 1>} : (tensor<2x4x!a>, tensor<2x4x!w>, tensor<2x!quant.uniform<i32:f32:0, {0.05,0.1}>>) -> tensor<2x2x!b>
 %t = "qnn.fully_connected"(%x, %v) {clamp = array<f32>, operandSegmentSizes = array<i32: 1, 1, 0>} : (tensor<2x4x!a>, tensor<2x4x!wt>) -> tensor<2x2x!i>
 return %r, %t : tensor<2x2x!b>, tensor<2x2x!i>
}
// -----
!a = !quant.uniform<i8:f32, 0.5:3>
!b = !quant.uniform<i8:f32, 0.25:-5>
!c = !quant.uniform<u8:f32, 0.125:100>
!n = !quant.uniform<i8<-127:127>:f32, 0.125:5>
!s = !quant.uniform<i16:f32, 0.001>
!i = !quant.uniform<i32:f32, 0.001>
!w = !quant.uniform<i8:f32:0, {0.1,0.2}>
!wt = !quant.uniform<i8:f32, 0.1>
func.func @fc_shared_bias(%x: tensor<2x4x!a>, %y: tensor<2x4x!a>) -> (tensor<2x2x!b>, tensor<2x2x!n>) {
 %b = "qnn.constant"() {value = dense<3> : tensor<2xi32>} : () -> tensor<2x!quant.uniform<i32:f32, 0.05>>
 %v = "qnn.constant"() {value = dense<7> : tensor<2x4xi8>} : () -> tensor<2x4x!wt>
 %r = "qnn.fully_connected"(%x, %v, %b) {clamp = array<f32>, operandSegmentSizes = array<i32: 1, 1, 1>} : (tensor<2x4x!a>, tensor<2x4x!wt>, tensor<2x!quant.uniform<i32:f32, 0.05>>) -> tensor<2x2x!b>
 %t = "qnn.fully_connected"(%y, %v, %b) {clamp = array<f32>, operandSegmentSizes = array<i32: 1, 1, 1>} : (tensor<2x4x!a>, tensor<2x4x!wt>, tensor<2x!quant.uniform<i32:f32, 0.05>>) -> tensor<2x2x!n>
 return %r, %t : tensor<2x2x!b>, tensor<2x2x!n>
}
// -----
!a = !quant.uniform<i8:f32, 0.5:3>
!b = !quant.uniform<i8:f32, 0.25:-5>
!c = !quant.uniform<u8:f32, 0.125:100>
!n = !quant.uniform<i8<-127:127>:f32, 0.125:5>
!s = !quant.uniform<i16:f32, 0.001>
!i = !quant.uniform<i32:f32, 0.001>
!w = !quant.uniform<i8:f32:0, {0.1,0.2}>
!wt = !quant.uniform<i8:f32, 0.1>
func.func @fc_computed_bias(%x: tensor<2x4x!a>, %b: tensor<2x!quant.uniform<i32:f32, 0.05>>) -> (tensor<2x2x!b>) {
 %v = "qnn.constant"() {value = dense<7> : tensor<2x4xi8>} : () -> tensor<2x4x!wt>
 %r = "qnn.fully_connected"(%x, %v, %b) {clamp = array<f32>, operandSegmentSizes = array<i32: 1, 1, 1>} : (tensor<2x4x!a>, tensor<2x4x!wt>, tensor<2x!quant.uniform<i32:f32, 0.05>>) -> tensor<2x2x!b>
 return %r : tensor<2x2x!b>
}
// -----
!a = !quant.uniform<i8:f32, 0.5:3>
!b = !quant.uniform<i8:f32, 0.25:-5>
!c = !quant.uniform<u8:f32, 0.125:100>
!n = !quant.uniform<i8<-127:127>:f32, 0.125:5>
!s = !quant.uniform<i16:f32, 0.001>
!i = !quant.uniform<i32:f32, 0.001>
!w = !quant.uniform<i8:f32:0, {0.1,0.2}>
!wt = !quant.uniform<i8:f32, 0.1>
func.func @fc_computed_filter(%x: tensor<2x4x!a>, %v: tensor<2x4x!b>) -> (tensor<2x2x!b>) {
 %r = "qnn.fully_connected"(%x, %v) {clamp = array<f32>, operandSegmentSizes = array<i32: 1, 1, 0>} : (tensor<2x4x!a>, tensor<2x4x!b>) -> tensor<2x2x!b>
 %t = "qnn.reshape"(%r) : (tensor<2x2x!b>) -> tensor<2x2x!n>
 %q = "qnn.fully_connected"(%t, %t) {clamp = array<f32>, operandSegmentSizes = array<i32: 1, 1, 0>} : (tensor<2x2x!n>, tensor<2x2x!n>) -> tensor<2x2x!b>
 return %q : tensor<2x2x!b>
}
// -----
!a = !quant.uniform<i8:f32, 0.5:3>
!b = !quant.uniform<i8:f32, 0.25:-5>
!c = !quant.uniform<u8:f32, 0.125:100>
!n = !quant.uniform<i8<-127:127>:f32, 0.125:5>
!s = !quant.uniform<i16:f32, 0.001>
!i = !quant.uniform<i32:f32, 0.001>
!w = !quant.uniform<i8:f32:0, {0.1,0.2}>
!wt = !quant.uniform<i8:f32, 0.1>
func.func @i32_moves(%x: tensor<2x4x!a>) -> (tensor<4x!i>) {
 %v = "qnn.constant"() {value = dense<7> : tensor<2x4xi8>} : () -> tensor<2x4x!wt>
 %t = "qnn.fully_connected"(%x, %v) {clamp = array<f32>, operandSegmentSizes = array<i32: 1, 1, 0>} : (tensor<2x4x!a>, tensor<2x4x!wt>) -> tensor<2x2x!quant.uniform<i32:f32, 0.05>>
 %r = "qnn.reshape"(%t) : (tensor<2x2x!quant.uniform<i32:f32, 0.05>>) -> tensor<4x!i>
 return %r : tensor<4x!i>
}
// -----
!a = !quant.uniform<i8:f32, 0.5:3>
!b = !quant.uniform<i8:f32, 0.25:-5>
!c = !quant.uniform<u8:f32, 0.125:100>
!n = !quant.uniform<i8<-127:127>:f32, 0.125:5>
!s = !quant.uniform<i16:f32, 0.001>
!i = !quant.uniform<i32:f32, 0.001>
!w = !quant.uniform<i8:f32:0, {0.1,0.2}>
!wt = !quant.uniform<i8:f32, 0.1>
func.func @i32_to_i8(%x: tensor<2x4x!a>) -> (tensor<4x!a>) {
 %v = "qnn.constant"() {value = dense<7> : tensor<2x4xi8>} : () -> tensor<2x4x!wt>
 %t = "qnn.fully_connected"(%x, %v) {clamp = array<f32>, operandSegmentSizes = array<i32: 1, 1, 0>} : (tensor<2x4x!a>, tensor<2x4x!wt>) -> tensor<2x2x!quant.uniform<i32:f32, 0.05>>
 %r = "qnn.reshape"(%t) : (tensor<2x2x!quant.uniform<i32:f32, 0.05>>) -> tensor<4x!a>
 return %r : tensor<4x!a>
}
// -----
!a = !quant.uniform<i8:f32, 0.5:3>
!b = !quant.uniform<i8:f32, 0.25:-5>
!c = !quant.uniform<u8:f32, 0.125:100>
!n = !quant.uniform<i8<-127:127>:f32, 0.125:5>
!s = !quant.uniform<i16:f32, 0.001>
!i = !quant.uniform<i32:f32, 0.001>
!w = !quant.uniform<i8:f32:0, {0.1,0.2}>
!wt = !quant.uniform<i8:f32, 0.1>
func.func @dynamic(%x: tensor<?x4x!a>) -> (tensor<?x4x!b>, tensor<4x?x!c>) {
 %l = "qnn.softmax"(%x) {beta = 1.0 : f32, axis = 1 : i64} : (tensor<?x4x!a>) -> tensor<?x4x!b>
 %t = "qnn.transpose"(%l) {permutation = array<i64: 1, 0>} : (tensor<?x4x!b>) -> tensor<4x?x!c>
 return %l, %t : tensor<?x4x!b>, tensor<4x?x!c>
}
// -----
!a = !quant.uniform<i8:f32, 0.5:3>
!b = !quant.uniform<i8:f32, 0.25:-5>
!c = !quant.uniform<u8:f32, 0.125:100>
!n = !quant.uniform<i8<-127:127>:f32, 0.125:5>
!s = !quant.uniform<i16:f32, 0.001>
!i = !quant.uniform<i32:f32, 0.001>
!w = !quant.uniform<i8:f32:0, {0.1,0.2}>
!wt = !quant.uniform<i8:f32, 0.1>
func.func @argmax(%x: tensor<2x4x!a>) -> (tensor<2xi32>, tensor<8x!s>) {
 %r = "qnn.reshape"(%x) : (tensor<2x4x!a>) -> tensor<2x4x!s>
 %m = "qnn.arg_max"(%r) {axis = 1 : i64} : (tensor<2x4x!s>) -> tensor<2xi32>
 %t = "qnn.reshape"(%r) : (tensor<2x4x!s>) -> tensor<8x!s>
 return %m, %t : tensor<2xi32>, tensor<8x!s>
}
// -----
!a = !quant.uniform<i8:f32, 0.5:3>
!b = !quant.uniform<i8:f32, 0.25:-5>
!c = !quant.uniform<u8:f32, 0.125:100>
!n = !quant.uniform<i8<-127:127>:f32, 0.125:5>
!s = !quant.uniform<i16:f32, 0.001>
!i = !quant.uniform<i32:f32, 0.001>
!w = !quant.uniform<i8:f32:0, {0.1,0.2}>
!wt = !quant.uniform<i8:f32, 0.1>
func.func private @f(%x: tensor<2x4x!a>) -> tensor<8x!b> {
 %r = "qnn.reshape"(%x) : (tensor<2x4x!a>) -> tensor<8x!b>
 return %r : tensor<8x!b>
}
func.func @two_functions(%x: tensor<2x4x!a>) -> tensor<8x!b> {
 %r = "qnn.reshape"(%x) : (tensor<2x4x!a>) -> tensor<8x!b>
 return %r : tensor<8x!b>
}
// -----
!a = !quant.uniform<i8:f32, 0.5:3>
!b = !quant.uniform<i8:f32, 0.25:-5>
!c = !quant.uniform<u8:f32, 0.125:100>
!n = !quant.uniform<i8<-127:127>:f32, 0.125:5>
!s = !quant.uniform<i16:f32, 0.001>
!i = !quant.uniform<i32:f32, 0.001>
!w = !quant.uniform<i8:f32:0, {0.1,0.2}>
!wt = !quant.uniform<i8:f32, 0.1>
func.func @quantize(%x: tensor<2x4xf32>) -> tensor<8xf32> {
 %q = "qnn.quantize"(%x) : (tensor<2x4xf32>) -> tensor<2x4x!a>
 %r = "qnn.reshape"(%q) : (tensor<2x4x!a>) -> tensor<8x!b>
 %s = "qnn.slice"(%r) {offsets = array<i64: 0>, sizes = array<i64: 8>, strides = array<i64: 1>} : (tensor<8x!b>) -> tensor<8x!n>
 %t = "qnn.dequantize"(%s) : (tensor<8x!n>) -> tensor<8xf32>
 return %t : tensor<8xf32>
}
// -----
!a = !quant.uniform<i8:f32, 0.5:3>
!b = !quant.uniform<i8:f32, 0.25:-5>
!c = !quant.uniform<u8:f32, 0.125:100>
!n = !quant.uniform<i8<-127:127>:f32, 0.125:5>
!s = !quant.uniform<i16:f32, 0.001>
!i = !quant.uniform<i32:f32, 0.001>
!w = !quant.uniform<i8:f32:0, {0.1,0.2}>
!wt = !quant.uniform<i8:f32, 0.1>
func.func @empty(%x: tensor<0x4x!a>) -> tensor<0x!b> {
 %r = "qnn.reshape"(%x) : (tensor<0x4x!a>) -> tensor<0x!b>
 return %r : tensor<0x!b>
}
// -----
!a = !quant.uniform<i8:f32, 0.5:3>
!b = !quant.uniform<i8:f32, 0.25:-5>
!c = !quant.uniform<u8:f32, 0.125:100>
!n = !quant.uniform<i8<-127:127>:f32, 0.125:5>
!s = !quant.uniform<i16:f32, 0.001>
!i = !quant.uniform<i32:f32, 0.001>
!w = !quant.uniform<i8:f32:0, {0.1,0.2}>
!wt = !quant.uniform<i8:f32, 0.1>
func.func @scalar(%x: tensor<!a>) -> tensor<1x!b> {
 %r = "qnn.reshape"(%x) : (tensor<!a>) -> tensor<1x!b>
 return %r : tensor<1x!b>
}
// -----
!a = !quant.uniform<i8:f32, 0.5:3>
!b = !quant.uniform<i8:f32, 0.25:-5>
!c = !quant.uniform<u8:f32, 0.125:100>
!n = !quant.uniform<i8<-127:127>:f32, 0.125:5>
!s = !quant.uniform<i16:f32, 0.001>
!i = !quant.uniform<i32:f32, 0.001>
!w = !quant.uniform<i8:f32:0, {0.1,0.2}>
!wt = !quant.uniform<i8:f32, 0.1>
func.func @dead(%x: tensor<4x!a>) -> tensor<4x!a> {
 %r = "qnn.logistic"(%x) : (tensor<4x!a>) -> tensor<4x!b>
 %t = "qnn.reshape"(%r) : (tensor<4x!b>) -> tensor<4x1x!c>
 return %x : tensor<4x!a>
}
