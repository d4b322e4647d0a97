"""From the LLVM dialect to machine code: for this machine (run at once) or for another one (an object
file).
"""
