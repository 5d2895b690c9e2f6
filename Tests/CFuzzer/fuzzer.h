// The entrance of libFuzzer, which LLVM has no header for. Source: compiler-rt/lib/fuzzer/FuzzerInterface.h,
// “Using libFuzzer as a library” in its manual.
#pragma once

#include <stddef.h>
#include <stdint.h>

typedef int (*ferry_fuzz_one)(const uint8_t *bytes, size_t count);

int LLVMFuzzerRunDriver(int *argument_count, char ***arguments, ferry_fuzz_one one);
