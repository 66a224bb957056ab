// One picture of any origin, decoded in a process of its own. Whatever goes wrong ends the process (`fail`), so nothing
// is released on the way: the kernel does that.
#ifndef PICTURE_H
#define PICTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// A picture in 8-bit RGB, without transparency and without padding between its rows.
struct picture {
    uint32_t width, height;
    uint8_t *rgb;
    /// Of the whole picture, before it was scaled and turned.
    uint32_t full_width, full_height;
    /// An ICC profile of RGB, or NULL: sRGB.
    const uint8_t *profile;
    size_t profile_length;
    /// How many pictures the file has; the first, or that which the file calls its primary one, is decoded.
    uint32_t frames;
};

struct bytes {
    const uint8_t *start;
    size_t length;
};

/// Ends the process with a reason for `PictureProcess`, which has the sentences: damaged, truncated, pixels, memory,
/// library, codec, usage.
_Noreturn void fail(const char *reason);

/// Fails where the memory is exhausted, as all that allocates does.
void *allocate(size_t count, size_t size);

/// Fails where a picture is empty or has more than 200 million pixels: a file of some bytes can claim any size.
void check_size(uint64_t width, uint64_t height);

/// An empty picture of that size.
struct picture new_picture(uint32_t width, uint32_t height);

/// Keeps the profile if it is one of RGB; others don't fit the decoded pixels.
void set_profile(struct picture *picture, const uint8_t *profile, size_t length);

/// Makes the profile for the colour primaries and the transfer characteristics of ITU-T H.273 (8.1, 8.2), unless they
/// are those of sRGB, or others than Display P3 and BT.2020 with a curve like that of sRGB.
void set_profile_by_numbers(struct picture *picture, unsigned primaries, unsigned transfer);

/// Replaces RGBA by RGB on white.
void flatten(uint8_t *rgba, size_t pixels);

/// Decoders. That of JPEG halves the picture up to three times, as long as the longer side has `enough` pixels or more.
struct picture decode_jpeg(struct bytes file, uint32_t enough);
struct picture decode_png(struct bytes file);
struct picture decode_webp(struct bytes file);
struct picture decode_gif(struct bytes file);
struct picture decode_heif(struct bytes file);

/// Loads libheif, which needs files, before the sandbox has none. Fails if it is not installed.
void load_heif(void);

/// The mean of the pixels that each new pixel covers; not larger than before.
struct picture scaled(struct picture picture, uint32_t width, uint32_t height);
/// The whole picture within a width and a height.
struct picture fitting(struct picture picture, uint32_t width, uint32_t height);
/// - orientation: as in Exif, 1 to 8.
struct picture upright(struct picture picture, unsigned orientation);

/// With the picture's profile.
struct bytes encode_jpeg(struct picture picture, int quality);
struct bytes encode_png(struct picture picture);

/// From here on the process can't open, start, connect to or write anything but its open descriptors.
void enter_sandbox(void);

#endif
