// HEIC and AVIF. libheif is loaded only for them: it and its codecs are larger than AppLocker's command line.
#include "picture.h"

#include <dlfcn.h>
#include <libheif/heif.h>
#include <string.h>

#define FUNCTIONS(of) \
    of(heif_context_alloc) of(heif_context_read_from_memory_without_copy) of(heif_context_get_primary_image_handle) \
    of(heif_context_get_number_of_top_level_images) of(heif_image_handle_get_width) of(heif_image_handle_get_height) \
    of(heif_image_handle_has_alpha_channel) of(heif_image_handle_get_raw_color_profile_size) \
    of(heif_image_handle_get_raw_color_profile) of(heif_image_handle_get_nclx_color_profile) \
    of(heif_nclx_color_profile_free) of(heif_decoding_options_alloc) of(heif_decode_image) \
    of(heif_image_get_width) of(heif_image_get_height) of(heif_image_get_plane_readonly)

#define DECLARE(name) static __typeof__(name) *p_##name;
FUNCTIONS(DECLARE)

void load_heif(void) {
    void *library = dlopen("libheif.so.1", RTLD_NOW);
    if (!library) fail("library");
#define FIND(name) \
    p_##name = (__typeof__(name) *)dlsym(library, #name); \
    if (!p_##name) fail("library");
    FUNCTIONS(FIND)
    // From version 1.13 on; it loads the codecs where they are plug-ins.
    struct heif_error (*initialize)(struct heif_init_params *) = dlsym(library, "heif_init");
    if (initialize) initialize(NULL);
}

static void check(struct heif_error error) {
    switch (error.code) {
    case heif_error_Ok: return;
    case heif_error_Memory_allocation_error: fail("memory");
    case heif_error_Unsupported_feature:
    case heif_error_Unsupported_filetype:
    case heif_error_Plugin_loading_error: fail("codec");
    default: fail(error.subcode == heif_suberror_End_of_data ? "truncated" : "damaged");
    }
}

// Whether a box with a type is missing its end: then the file is truncated, which libheif reports in many ways.
static bool is_truncated(struct bytes file) {
    size_t offset = 0;
    while (file.length - offset >= 8) {
        const uint8_t *box = file.start + offset;
        uint64_t size = (uint64_t)box[0] << 24 | box[1] << 16 | box[2] << 8 | box[3];
        if (size == 0) return false;
        if (size == 1 && file.length - offset >= 16) {
            size = 0;
            for (int byte = 8; byte < 16; byte++) size = size << 8 | box[byte];
        }
        if (size < 8) return false;
        if (size > file.length - offset) return true;
        offset += size;
    }
    return false;
}

// Image sequences have one of these brands (ISO/IEC 23008-12, 9; AVIF 1.1, 6).
static bool is_sequence(struct bytes file) {
    static const char *brands[] = {"msf1", "hevc", "hevx", "avis"};
    size_t size = (size_t)file.start[2] << 8 | file.start[3];
    for (size_t offset = 8; offset + 4 <= size && offset + 4 <= file.length; offset += 4) {
        for (size_t brand = 0; brand < sizeof brands / sizeof *brands; brand++) {
            if (offset != 12 && !memcmp(file.start + offset, brands[brand], 4)) return true;
        }
    }
    return false;
}

struct picture decode_heif(struct bytes file) {
    if (is_truncated(file)) fail("truncated");
    struct heif_context *context = p_heif_context_alloc();
    if (!context) fail("memory");
    check(p_heif_context_read_from_memory_without_copy(context, file.start, file.length, NULL));
    struct heif_image_handle *handle;
    check(p_heif_context_get_primary_image_handle(context, &handle));
    int full_width = p_heif_image_handle_get_width(handle), full_height = p_heif_image_handle_get_height(handle);
    if (full_width <= 0 || full_height <= 0) fail("damaged");
    check_size((uint64_t)full_width, (uint64_t)full_height);
    bool has_alpha = p_heif_image_handle_has_alpha_channel(handle);
    struct heif_decoding_options *options = p_heif_decoding_options_alloc();
    if (!options) fail("memory");
    options->convert_hdr_to_8bit = 1;
    struct heif_image *image;
    check(p_heif_decode_image(
        handle, &image, heif_colorspace_RGB, has_alpha ? heif_chroma_interleaved_RGBA : heif_chroma_interleaved_RGB,
        options));
    int width = p_heif_image_get_width(image, heif_channel_interleaved);
    int height = p_heif_image_get_height(image, heif_channel_interleaved);
    int stride;
    const uint8_t *plane = p_heif_image_get_plane_readonly(image, heif_channel_interleaved, &stride);
    size_t channels = has_alpha ? 4 : 3;
    if (!plane || width <= 0 || height <= 0 || stride < 0 || (size_t)stride < (size_t)width * channels) fail("damaged");
    check_size((uint64_t)width, (uint64_t)height);
    struct picture picture = new_picture(0, 0);
    picture.width = picture.full_width = (uint32_t)width;
    picture.height = picture.full_height = (uint32_t)height;
    picture.rgb = allocate((size_t)width * (size_t)height, channels);
    for (size_t row = 0; row < (size_t)height; row++)
        memcpy(picture.rgb + row * (size_t)width * channels, plane + row * (size_t)stride, (size_t)width * channels);
    if (has_alpha) flatten(picture.rgb, (size_t)width * (size_t)height);
    size_t length = p_heif_image_handle_get_raw_color_profile_size(handle);
    if (length > 0) {
        uint8_t *profile = allocate(length, 1);
        if (p_heif_image_handle_get_raw_color_profile(handle, profile).code == heif_error_Ok)
            set_profile(&picture, profile, length);
    }
    struct heif_color_profile_nclx *numbers;
    if (!picture.profile && p_heif_image_handle_get_nclx_color_profile(handle, &numbers).code == heif_error_Ok) {
        set_profile_by_numbers(&picture, numbers->color_primaries, numbers->transfer_characteristics);
        p_heif_nclx_color_profile_free(numbers);
    }
    int images = p_heif_context_get_number_of_top_level_images(context);
    picture.frames = is_sequence(file) ? 2 : images > 1 ? (uint32_t)images : 1;
    return picture;
}
