// Decodes, scales, turns and encodes as applocker-picture does, for libFuzzer; `Fuzz/run` compiles it with those files.
#include "picture.h"

#include <setjmp.h>
#include <string.h>

static jmp_buf refused;

_Noreturn void fail(const char *reason) {
    (void)reason;
    longjmp(refused, 1);
}

static bool starts(const uint8_t *bytes, const char *text, size_t length) { return !memcmp(bytes, text, length); }

static struct picture decode(struct bytes file) {
    if (starts(file.start, "\x89PNG", 4)) return decode_png(file);
    if (starts(file.start, "RIFF", 4)) return decode_webp(file);
    if (starts(file.start, "GIF8", 4)) return decode_gif(file);
    if (starts(file.start + 4, "ftyp", 4)) return decode_heif(file);
    return decode_jpeg(file, 48);
}

int LLVMFuzzerTestOneInput(const uint8_t *start, size_t length) {
    static bool is_loaded;
    if (!is_loaded) load_heif();
    is_loaded = true;
    if (length < 16 || setjmp(refused)) return 0;
    struct picture picture = decode((struct bytes){start, length});
    if (picture.width > 4096 || picture.height > 4096) return 0;
    picture = upright(fitting(picture, 48, 32), 1 + length % 8);
    struct bytes made = encode_jpeg(picture, 85);
    struct picture again = decode_jpeg(made, UINT32_MAX);
    if (again.width != picture.width || again.height != picture.height) __builtin_trap();
    return 0;
}
