#include "picture.h"

#include <stdio.h>
#include <string.h>

#include <jpeglib.h>
#include <jerror.h>

// What the decoder has found wrong.
static bool is_corrupt, is_at_end;

static void on_error(j_common_ptr info) {
    if (info->err->msg_code == JERR_OUT_OF_MEMORY) fail("memory");
    fail(is_at_end ? "truncated" : "damaged");
}

// Cameras write files that libjpeg warns about; only lost pixels are a reason to refuse one.
static void on_message(j_common_ptr info, int level) {
    if (level >= 0) return;
    switch (info->err->msg_code) {
    case JWRN_HIT_MARKER:
    case JWRN_HUFF_BAD_CODE:
    case JWRN_ARITH_BAD_CODE:
    case JWRN_MUST_RESYNC: is_corrupt = true;
    }
}

// A file without its end marker may still be complete.
static boolean end_of_file(j_decompress_ptr info) {
    static const JOCTET marker[] = {0xFF, JPEG_EOI};
    is_at_end = true;
    info->src->next_input_byte = marker;
    info->src->bytes_in_buffer = sizeof marker;
    return TRUE;
}

// Adobe's programs store the inks inverted.
static void from_cmyk(const uint8_t *cmyk, uint8_t *rgb, size_t pixels, bool is_inverted) {
    for (size_t pixel = 0; pixel < pixels; pixel++) {
        for (size_t channel = 0; channel < 3; channel++) {
            unsigned ink = cmyk[pixel * 4 + channel], black = cmyk[pixel * 4 + 3];
            if (!is_inverted) ink = 255 - ink, black = 255 - black;
            rgb[pixel * 3 + channel] = (uint8_t)(ink * black / 255);
        }
    }
}

struct picture decode_jpeg(struct bytes file, uint32_t enough) {
    struct jpeg_error_mgr errors;
    struct jpeg_decompress_struct info = {.err = jpeg_std_error(&errors)};
    errors.error_exit = on_error;
    errors.emit_message = on_message;
    is_corrupt = is_at_end = false;
    jpeg_create_decompress(&info);
    jpeg_mem_src(&info, file.start, file.length);
    info.src->fill_input_buffer = end_of_file;
    jpeg_save_markers(&info, JPEG_APP0 + 2, 0xFFFF);
    jpeg_read_header(&info, TRUE);
    check_size(info.image_width, info.image_height);
    uint32_t longer = info.image_width > info.image_height ? info.image_width : info.image_height;
    // The powers of two are those that libjpeg-turbo has fast code for.
    while (info.scale_denom < 8 && longer / (info.scale_denom * 2) >= enough) info.scale_denom *= 2;
    bool is_cmyk = info.num_components == 4;
    info.out_color_space = is_cmyk ? JCS_CMYK : JCS_RGB;
    jpeg_start_decompress(&info);
    // Without its last scans a picture is there, but blurred.
    if (is_at_end && jpeg_has_multiple_scans(&info)) fail("truncated");
    struct picture picture = new_picture(info.output_width, info.output_height);
    picture.full_width = info.image_width;
    picture.full_height = info.image_height;
    uint8_t *inks = is_cmyk ? allocate(info.output_width, 4) : NULL;
    while (info.output_scanline < info.output_height) {
        uint8_t *row = picture.rgb + (size_t)info.output_scanline * picture.width * 3;
        JSAMPROW target = is_cmyk ? inks : row;
        jpeg_read_scanlines(&info, &target, 1);
        if (is_cmyk) from_cmyk(inks, row, picture.width, info.saw_Adobe_marker);
    }
    if (is_corrupt) fail(is_at_end ? "truncated" : "damaged");
    JOCTET *profile;
    unsigned length;
    if (jpeg_read_icc_profile(&info, &profile, &length)) set_profile(&picture, profile, length);
    return picture;
}

struct bytes encode_jpeg(struct picture picture, int quality) {
    struct jpeg_error_mgr errors;
    struct jpeg_compress_struct info = {.err = jpeg_std_error(&errors)};
    errors.error_exit = on_error;
    jpeg_create_compress(&info);
    unsigned char *start = NULL;
    unsigned long length = 0;
    jpeg_mem_dest(&info, &start, &length);
    info.image_width = picture.width;
    info.image_height = picture.height;
    info.input_components = 3;
    info.in_color_space = JCS_RGB;
    jpeg_set_defaults(&info);
    jpeg_set_quality(&info, quality, TRUE);
    jpeg_start_compress(&info, TRUE);
    if (picture.profile) jpeg_write_icc_profile(&info, picture.profile, (unsigned)picture.profile_length);
    while (info.next_scanline < info.image_height) {
        JSAMPROW row = picture.rgb + (size_t)info.next_scanline * picture.width * 3;
        jpeg_write_scanlines(&info, &row, 1);
    }
    jpeg_finish_compress(&info);
    jpeg_destroy_compress(&info);
    return (struct bytes){start, length};
}
