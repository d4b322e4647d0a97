"""AArch64 without the hardware: Debian's Python and the project's dependencies under ``qemu-aarch64``.

``python -m zeropoint.tools.aarch64 --help`` says how it is used, docs/aarch64.md how it works.
"""
