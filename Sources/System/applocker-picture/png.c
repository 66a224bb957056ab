#include "picture.h"

#include <png.h>
#include <string.h>

static void on_error(png_structp png, png_const_charp text) {
    (void)png;
    fail(strstr(text, "memory") ? "memory" : "damaged");
}

static void on_warning(png_structp png, png_const_charp text) { (void)png, (void)text; }

static void take(png_structp png, png_bytep target, size_t length) {
    struct bytes *rest = png_get_io_ptr(png);
    if (length > rest->length) fail("truncated");
    memcpy(target, rest->start, length);
    rest->start += length;
    rest->length -= length;
}

// Animated PNG (PNG third edition, 11.3.6.1): the first number of acTL is that of its frames.
static int on_chunk(png_structp png, png_unknown_chunkp chunk) {
    uint32_t *frames = png_get_user_chunk_ptr(png);
    if (!memcmp(chunk->name, "acTL", 4) && chunk->size >= 4) *frames = png_get_uint_32(chunk->data);
    return 1;
}

struct picture decode_png(struct bytes file) {
    png_structp png = png_create_read_struct(PNG_LIBPNG_VER_STRING, NULL, on_error, on_warning);
    png_infop info = png ? png_create_info_struct(png) : NULL;
    if (!info) fail("memory");
    uint32_t frames = 1;
    png_set_read_fn(png, &file, take);
    png_set_read_user_chunk_fn(png, &frames, on_chunk);
    png_read_info(png, info);
    uint32_t width = png_get_image_width(png, info), height = png_get_image_height(png, info);
    check_size(width, height);
    // Every kind of PNG as 8-bit RGBA.
    png_set_expand(png);
    png_set_scale_16(png);
    png_set_gray_to_rgb(png);
    png_set_add_alpha(png, 0xFF, PNG_FILLER_AFTER);
    png_set_interlace_handling(png);
    png_read_update_info(png, info);
    if (png_get_rowbytes(png, info) != (size_t)width * 4) fail("damaged");
    struct picture picture = new_picture(0, 0);
    picture.width = picture.full_width = width;
    picture.height = picture.full_height = height;
    picture.rgb = allocate((size_t)width * height, 4);
    png_bytepp rows = allocate(height, sizeof *rows);
    for (uint32_t row = 0; row < height; row++) rows[row] = picture.rgb + (size_t)row * width * 4;
    png_read_image(png, rows);
    flatten(picture.rgb, (size_t)width * height);
    png_charp name;
    png_bytep profile;
    png_uint_32 length;
    int method;
    if (png_get_iCCP(png, info, &name, &method, &profile, &length)) set_profile(&picture, profile, length);
    picture.frames = frames > 0 ? frames : 1;
    return picture;
}

struct bytes encode_png(struct picture picture) {
    png_image image = {
        .version = PNG_IMAGE_VERSION, .width = picture.width, .height = picture.height, .format = PNG_FORMAT_RGB,
        .flags = PNG_IMAGE_FLAG_FAST};
    png_alloc_size_t length = PNG_IMAGE_PNG_SIZE_MAX(image);
    uint8_t *start = allocate(length, 1);
    if (!png_image_write_to_memory(&image, start, &length, 0, picture.rgb, 0, NULL)) fail("memory");
    return (struct bytes){start, length};
}
