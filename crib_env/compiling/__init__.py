"""How kernels are compiled and kept, and which source files each depends on."""
