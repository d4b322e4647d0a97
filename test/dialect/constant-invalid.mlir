// RUN: qopt %s --split-input-file --verify-diagnostics

func.func @constant_c0_kind() {
  // expected-error@+1 {{'qnn.constant' op (C0) attribute 'value': got 1.000000e+00 : f32, expected dense<...> or dense_resource<...>}}
  %result = "qnn.constant"() {value = 1.000000e+00 : f32} : () -> tensor<1xf32>
  return
}

// -----

!q = !quant.uniform<i8:f32, 5.000000e-01:3>

func.func @constant_c1_shape() {
  // expected-error@+1 {{'qnn.constant' op (C1) value shape: got [2], expected [3]}}
  %result = "qnn.constant"() {value = dense<1> : tensor<2xi8>} : () -> tensor<3x!q>
  return
}

// -----

!q = !quant.uniform<i8:f32, 5.000000e-01:3>

func.func @constant_c1_dynamic() {
  // expected-error@+1 {{'qnn.constant' op (C1) result shape: got [-1], expected a static one}}
  %result = "qnn.constant"() {value = dense<1> : tensor<2xi8>} : () -> tensor<?x!q>
  return
}

// -----

!q = !quant.uniform<i8:f32, 5.000000e-01:3>

func.func @constant_c2_width() {
  // expected-error@+1 {{'qnn.constant' op (C2) value's element type: got i32, expected i8 for quantized i8}}
  %result = "qnn.constant"() {value = dense<1> : tensor<2xi32>} : () -> tensor<2x!q>
  return
}

// -----

!q = !quant.uniform<i8:f32, 5.000000e-01:3>

func.func @constant_c2_float() {
  // expected-error@+1 {{'qnn.constant' op (C2) value's element type: got f32, expected i8 for quantized i8}}
  %result = "qnn.constant"() {value = dense<1.000000e+00> : tensor<2xf32>} : () -> tensor<2x!q>
  return
}

// -----

func.func @constant_c2_integers() {
  // expected-error@+1 {{'qnn.constant' op (C2) value's element type: got i32, expected f32 for f32}}
  %result = "qnn.constant"() {value = dense<1> : tensor<2xi32>} : () -> tensor<2xf32>
  return
}

// -----

!n = !quant.uniform<i8<-100:100>:f32, 5.000000e-01:3>

func.func @constant_c3_bounds() {
  // expected-error@+1 {{'qnn.constant' op (C3) values from 0 to 101 lie outside the storage range [-100, 100]}}
  %result = "qnn.constant"() {value = dense<[0, 101]> : tensor<2xi8>} : () -> tensor<2x!n>
  return
}

// -----

!k = !quant.uniform<i4:f32, 5.000000e-01>

func.func @constant_c3_four_bits() {
  // expected-error@+1 {{'qnn.constant' op (C3) values from -9 to 0 lie outside the storage range [-8, 7]}}
  %result = "qnn.constant"() {value = dense<[-9, 0]> : tensor<2xi8>} : () -> tensor<2x!k>
  return
}
