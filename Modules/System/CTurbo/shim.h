#pragma once
#include <turbojpeg.h>

// The same pixels give the same bytes on every machine: the accurate transform is the same with and without SIMD.
static inline int ferry_jpeg_encode(
  tjhandle handle, const unsigned char *rgb, int width, int height, int sampling, int quality, unsigned char *output,
  unsigned long *count
) {
  return tjCompress2(
    handle, rgb, width, 0, height, TJPF_RGB, &output, count, sampling, quality, TJFLAG_NOREALLOC | TJFLAG_ACCURATEDCT
  );
}

// Enumerations that Swift would import with a type of their own.
static const int ferry_jpeg_gray = TJSAMP_GRAY;
static const int ferry_jpeg_420 = TJSAMP_420;
static const int ferry_jpeg_444 = TJSAMP_444;
