"""From the LLVM dialect to machine code: run in this process, or an object file for any machine."""
