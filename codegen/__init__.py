"""From the LLVM dialect to machine code: run in this process, or written as an object file for any machine."""
