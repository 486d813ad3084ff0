"""The table in the browser without a server: the same Python and the same kernels, compiled to WebAssembly."""
