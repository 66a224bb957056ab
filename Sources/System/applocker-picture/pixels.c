#include "picture.h"

#include <stdlib.h>
#include <string.h>

void *allocate(size_t count, size_t size) {
    void *memory = calloc(count, size);
    if (!memory) fail("memory");
    return memory;
}

void check_size(uint64_t width, uint64_t height) {
    if (width == 0 || height == 0) fail("damaged");
    if (width > 200000000 / height) fail("pixels");
}

struct picture new_picture(uint32_t width, uint32_t height) {
    return (struct picture){
        .width = width, .height = height, .full_width = width, .full_height = height, .frames = 1,
        .rgb = width ? allocate((size_t)width * height, 3) : NULL};
}

void set_profile(struct picture *picture, const uint8_t *profile, size_t length) {
    // ICC.1, 7.2: the data's colour space is at 16. A JPEG has room for 255 segments.
    if (length < 128 || length > 1 << 20 || memcmp(profile + 16, "RGB ", 4)) return;
    picture->profile = profile;
    picture->profile_length = length;
}

void flatten(uint8_t *rgba, size_t pixels) {
    for (size_t pixel = 0; pixel < pixels; pixel++) {
        unsigned alpha = rgba[pixel * 4 + 3];
        for (size_t channel = 0; channel < 3; channel++)
            rgba[pixel * 3 + channel] =
                (uint8_t)((rgba[pixel * 4 + channel] * alpha + 255 * (255 - alpha) + 127) / 255);
    }
}

// Adds `weight` times a row to the sums.
static void add(float *restrict sums, const uint8_t *restrict row, size_t count, float weight) {
    for (size_t value = 0; value < count; value++) sums[value] += weight * row[value];
}

struct picture scaled(struct picture picture, uint32_t width, uint32_t height) {
    if (width == picture.width && height == picture.height) return picture;
    struct picture result = picture;
    result.width = width;
    result.height = height;
    result.rgb = allocate((size_t)width * height, 3);
    size_t count = (size_t)picture.width * 3;
    float *sums = allocate(count, sizeof *sums);
    double across = (double)picture.width / width, down = (double)picture.height / height;
    for (uint32_t y = 0; y < height; y++) {
        double top = y * down, bottom = top + down;
        memset(sums, 0, count * sizeof *sums);
        for (uint32_t row = (uint32_t)top; row < bottom && row < picture.height; row++) {
            double covered = (bottom < row + 1 ? bottom : row + 1) - (top > row ? top : row);
            add(sums, picture.rgb + row * count, count, (float)covered);
        }
        for (uint32_t x = 0; x < width; x++) {
            double left = x * across, right = left + across;
            float mean[3] = {0, 0, 0};
            for (uint32_t column = (uint32_t)left; column < right && column < picture.width; column++) {
                float covered = (float)((right < column + 1 ? right : column + 1) - (left > column ? left : column));
                for (int channel = 0; channel < 3; channel++) mean[channel] += covered * sums[column * 3 + channel];
            }
            uint8_t *target = result.rgb + ((size_t)y * width + x) * 3;
            for (int channel = 0; channel < 3; channel++) {
                float value = mean[channel] / (float)(across * down) + 0.5f;
                target[channel] = value > 255 ? 255 : (uint8_t)value;
            }
        }
    }
    return result;
}

struct picture fitting(struct picture picture, uint32_t width, uint32_t height) {
    double scale = 1;
    if (scale * picture.width > width) scale = (double)width / picture.width;
    if (scale * picture.height > height) scale = (double)height / picture.height;
    uint32_t new_width = (uint32_t)(picture.width * scale + 0.5), new_height = (uint32_t)(picture.height * scale + 0.5);
    return scaled(picture, new_width ? new_width : 1, new_height ? new_height : 1);
}

struct picture upright(struct picture picture, unsigned orientation) {
    if (orientation <= 1 || orientation > 8) return picture;
    bool is_transposed = orientation > 4;
    // In which direction of the stored picture columns and rows go.
    bool is_mirrored = orientation == 2 || orientation == 3 || orientation == 7 || orientation == 8;
    bool is_flipped = orientation == 3 || orientation == 4 || orientation == 6 || orientation == 7;
    struct picture result = picture;
    if (is_transposed) {
        result.width = picture.height, result.height = picture.width;
        result.full_width = picture.full_height, result.full_height = picture.full_width;
    }
    result.rgb = allocate((size_t)result.width * result.height, 3);
    uint8_t *target = result.rgb;
    for (uint32_t y = 0; y < result.height; y++) {
        for (uint32_t x = 0; x < result.width; x++, target += 3) {
            uint32_t column = is_transposed ? y : x, row = is_transposed ? x : y;
            if (is_mirrored) column = picture.width - 1 - column;
            if (is_flipped) row = picture.height - 1 - row;
            memcpy(target, picture.rgb + ((size_t)row * picture.width + column) * 3, 3);
        }
    }
    return result;
}
