#pragma once
#include <png.h>
#include <string.h>

// libpng reports errors by longjmp, which must not pass through Swift's frames: each function here catches what is thrown
// below it.

// The bytes that are still to be read, and where to put what is wrong with them.
typedef struct {
  const unsigned char *bytes;
  size_t count;
  char *message;
  size_t room;
} ferry_png_input;

static inline void ferry_png_take(png_structp png, png_bytep target, size_t count) {
  ferry_png_input *input = (ferry_png_input *)png_get_io_ptr(png);
  if (count > input->count) png_error(png, "the file ends too early");
  memcpy(target, input->bytes, count);
  input->bytes += count;
  input->count -= count;
}

static inline void ferry_png_fail(png_structp png, png_const_charp message) {
  ferry_png_input *input = (ferry_png_input *)png_get_error_ptr(png);
  strncpy(input->message, message, input->room - 1);
  input->message[input->room - 1] = 0;
  png_longjmp(png, 1);
}

static inline void ferry_png_warn(png_structp png, png_const_charp message) {
  (void)png;
  (void)message;
}

// Reads a PNG of exactly `width` x `height` pixels as 8-bit RGBA, 4 bytes for each; gives 1, or 0 with a message.
//
// The simplified interface would be shorter, but libpng 1.6.39 mixes up its rows where 16 bits are interlaced.
static inline int ferry_png_read(
  const void *bytes, size_t count, unsigned width, unsigned height, unsigned char *rgba, char *message, size_t room
) {
  ferry_png_input input = {(const unsigned char *)bytes, count, message, room};
  png_structp png = png_create_read_struct(PNG_LIBPNG_VER_STRING, &input, ferry_png_fail, ferry_png_warn);
  if (!png) return 0;
  // Not changed after setjmp, but for the compiler's peace.
  png_infop volatile info = png_create_info_struct(png);
  if (setjmp(png_jmpbuf(png))) {
    png_infop made = info;
    png_destroy_read_struct(&png, made ? &made : NULL, NULL);
    return 0;
  }
  if (!info) png_error(png, "out of memory");
  png_set_read_fn(png, &input, ferry_png_take);
  png_read_info(png, info);
  if (png_get_image_width(png, info) != width || png_get_image_height(png, info) != height) {
    png_error(png, "the header is another one");
  }
  // Samples without a gamma are taken for sRGB.
  png_set_gamma_fixed(png, PNG_DEFAULT_sRGB, PNG_DEFAULT_sRGB);
  png_set_expand(png);
  png_set_scale_16(png);
  png_set_gray_to_rgb(png);
  png_set_add_alpha(png, 0xFF, PNG_FILLER_AFTER);
  int passes = png_set_interlace_handling(png);
  png_read_update_info(png, info);
  if (png_get_rowbytes(png, info) != (size_t)width * 4) png_error(png, "the rows are not as they should be");
  for (int pass = 0; pass < passes; pass++) {
    for (unsigned row = 0; row < height; row++) png_read_row(png, rgba + (size_t)row * width * 4, NULL);
  }
  png_read_end(png, NULL);
  png_infop made = info;
  png_destroy_read_struct(&png, &made, NULL);
  return 1;
}

// Writes 8-bit RGBA pixels as a PNG; without `memory` it says how long that would be.
static inline int ferry_png_write(const void *rgba, unsigned width, unsigned height, void *memory, size_t *count) {
  png_image image;
  memset(&image, 0, sizeof image);
  image.version = PNG_IMAGE_VERSION;
  image.width = width;
  image.height = height;
  image.format = PNG_FORMAT_RGBA;
  return png_image_write_to_memory(&image, memory, count, 0, rgba, 0, NULL);
}
