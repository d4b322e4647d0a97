"""vectorize-kernels: hand-written vector code in place of a contraction with its epilogue."""
