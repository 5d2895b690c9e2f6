#pragma once
#include <zlib.h>

// inflateInit2 and deflateInit2 are macros, which Swift does not import.
static inline int ferry_inflateInit2(z_stream *stream, int windowBits) { return inflateInit2(stream, windowBits); }
static inline int ferry_deflateInit2(z_stream *stream, int level, int windowBits, int memLevel) {
  return deflateInit2(stream, level, Z_DEFLATED, windowBits, memLevel, Z_DEFAULT_STRATEGY);
}
