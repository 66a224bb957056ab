// applocker-picture COMMAND FORMAT ORIENTATION …: reads a picture from standard input, which is a file, and writes what
// it makes of it to standard output; PictureMaker.swift starts it.
//   prepare … MEDIUM THUMBNAIL BYTES   WIDTH HEIGHT FRAMES MEDIUM-LENGTH THUMBNAIL-LENGTH in a line, the two JPEGs
//   jpeg …                             the whole picture as a JPEG
//   rgb … WIDTH HEIGHT                 WIDTH HEIGHT in a line, the pixels, as large as fits
//   png … WIDTH HEIGHT                 a PNG, as large as fits
#include "picture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

_Noreturn void fail(const char *reason) {
    (void)!write(STDERR_FILENO, reason, strlen(reason));
    _exit(1);
}

static void put(const void *start, size_t length) {
    for (const uint8_t *byte = start; length > 0;) {
        ssize_t count = write(STDOUT_FILENO, byte, length);
        if (count <= 0) _exit(1);
        byte += count;
        length -= (size_t)count;
    }
}

static struct bytes standard_input(void) {
    struct stat status;
    if (fstat(STDIN_FILENO, &status) || status.st_size <= 0) fail("truncated");
    void *start = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, STDIN_FILENO, 0);
    if (start == MAP_FAILED) fail("memory");
    return (struct bytes){start, (size_t)status.st_size};
}

static uint32_t number(const char *text) {
    unsigned long value = strtoul(text, NULL, 10);
    if (value == 0 || value > 1 << 30) fail("usage");
    return (uint32_t)value;
}

static struct picture decode(const char *format, struct bytes file, uint32_t enough) {
    if (!strcmp(format, "jpeg")) return decode_jpeg(file, enough);
    if (!strcmp(format, "png")) return decode_png(file);
    if (!strcmp(format, "webp")) return decode_webp(file);
    if (!strcmp(format, "gif")) return decode_gif(file);
    if (file.length < 16) fail("truncated");
    return decode_heif(file);
}

static struct bytes thumbnail(struct picture picture, uint32_t side, size_t most) {
    static const int qualities[] = {85, 65, 40};
    // Of the few kilobytes it has, a scanner's table of colours would take all.
    if (picture.profile_length > most / 4) picture.profile = NULL;
    for (; side >= 32; side = side * 3 / 4) {
        struct picture small = fitting(picture, side, side);
        for (size_t index = 0; index < sizeof qualities / sizeof *qualities; index++) {
            struct bytes made = encode_jpeg(small, qualities[index]);
            if (made.length <= most) return made;
        }
    }
    fail("damaged");
}

int main(int count, char **words) {
    if (count < 4) fail("usage");
    const char *command = words[1], *format = words[2];
    unsigned orientation = number(words[3]);
    bool is_heif = !strcmp(format, "heic") || !strcmp(format, "avif");
    struct bytes file = standard_input();
    if (is_heif) load_heif();
    enter_sandbox();
    char line[128];
    if (!strcmp(command, "prepare") && count == 7) {
        uint32_t side = number(words[4]);
        // An eighth fewer pixels than there may be are not worth decoding four times as many.
        struct picture picture = upright(fitting(decode(format, file, side - side / 8), side, side), orientation);
        struct bytes medium = encode_jpeg(picture, 85);
        struct bytes small = thumbnail(picture, number(words[5]), number(words[6]));
        int length = snprintf(
            line, sizeof line, "%u %u %u %zu %zu\n", picture.full_width, picture.full_height, picture.frames,
            medium.length, small.length);
        put(line, (size_t)length);
        put(medium.start, medium.length);
        put(small.start, small.length);
    } else if (!strcmp(command, "jpeg") && count == 4) {
        struct bytes made = encode_jpeg(upright(decode(format, file, UINT32_MAX), orientation), 93);
        put(made.start, made.length);
    } else if ((!strcmp(command, "rgb") || !strcmp(command, "png")) && count == 6) {
        uint32_t width = number(words[4]), height = number(words[5]);
        struct picture picture = decode(format, file, width > height ? width : height);
        picture = fitting(upright(picture, orientation), width, height);
        if (!strcmp(command, "png")) {
            struct bytes made = encode_png(picture);
            put(made.start, made.length);
        } else {
            put(line, (size_t)snprintf(line, sizeof line, "%u %u\n", picture.width, picture.height));
            put(picture.rgb, (size_t)picture.width * picture.height * 3);
        }
    } else {
        fail("usage");
    }
    return 0;
}
