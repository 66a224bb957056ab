// An ICC profile for a picture that names its colours by numbers (ITU-T H.273), as HEIC and AVIF may.
#include "picture.h"

#include <string.h>

// Header and count, ten entries, two texts, the white, the adaptation, three colours and one curve.
enum { PROFILE_SIZE = 132 + 10 * 12 + (28 + 2 * 10) + (28 + 2 * 4) + 20 + 44 + 3 * 20 + 32 };

// By their red, green and blue, as X, Y and Z, adapted to D50 as ICC.1 (9.2.44) asks for.
struct primaries {
    double colours[3][3];
};

static const struct primaries display_p3 = {
    {{0.51512, 0.24120, -0.00105}, {0.29198, 0.69225, 0.04189}, {0.15710, 0.06657, 0.78407}}};
static const struct primaries bt2020 = {
    {{0.67348, 0.27904, -0.00194}, {0.16566, 0.67534, 0.02999}, {0.12505, 0.04561, 0.79686}}};

static uint8_t *put32(uint8_t *at, uint32_t value) {
    for (int byte = 0; byte < 4; byte++) at[byte] = (uint8_t)(value >> (24 - 8 * byte));
    return at + 4;
}

static uint8_t *put_name(uint8_t *at, const char name[5]) {
    memcpy(at, name, 4);
    return at + 4;
}

// s15Fixed16Number
static uint8_t *put_number(uint8_t *at, double value) {
    return put32(at, (uint32_t)(int32_t)(value * 65536 + (value < 0 ? -0.5 : 0.5)));
}

static uint8_t *put_xyz(uint8_t *at, const double xyz[3]) {
    at = put32(put_name(at, "XYZ "), 0);
    for (int axis = 0; axis < 3; axis++) at = put_number(at, xyz[axis]);
    return at;
}

// multiLocalizedUnicodeType with one text of ASCII.
static uint8_t *put_text(uint8_t *at, const char *text) {
    size_t length = strlen(text);
    at = put32(put32(put32(put_name(at, "mluc"), 0), 1), 12);
    at = put32(put32(put_name(at, "enUS"), (uint32_t)length * 2), 28);
    for (size_t letter = 0; letter < length; letter++) {
        *at++ = 0;
        *at++ = (uint8_t)text[letter];
    }
    return at;
}

// ICC.1:2022, 7.2 to 7.4.
static size_t profile_of(const struct primaries *primaries, const char *name, uint8_t profile[PROFILE_SIZE]) {
    static const double d50[3] = {0.96420, 1, 0.82491};
    // From D65, the white of all of these, to D50.
    static const double adaptation[9] = {
        1.04788, 0.02292, -0.05022, 0.02959, 0.99048, -0.01707, -0.00925, 0.01508, 0.75168};
    // The curve of sRGB (IEC 61966-2-1), as a function of type 3.
    static const double curve[5] = {2.4, 1 / 1.055, 0.055 / 1.055, 1 / 12.92, 0.04045};
    static const char *const tags[] = {"desc", "cprt", "wtpt", "chad", "rXYZ", "gXYZ", "bXYZ", "rTRC", "gTRC", "bTRC"};
    enum { TAGS = sizeof tags / sizeof *tags };
    memset(profile, 0, PROFILE_SIZE);
    put_name(put_name(put_name(put32(profile + 8, 0x04400000), "mntr"), "RGB "), "XYZ ");
    // A date is required.
    profile[24] = 2024 >> 8, profile[25] = 2024 & 255, profile[27] = 1, profile[29] = 1;
    put_name(profile + 36, "acsp");
    for (int axis = 0; axis < 3; axis++) put_number(profile + 68 + 4 * axis, d50[axis]);
    uint8_t *entry = put32(profile + 128, TAGS), *at = entry + TAGS * 12, *start = at;
    for (int tag = 0; tag < TAGS; tag++) {
        // The three curves are one.
        if (tag < 8) start = at;
        if (tag == 0) at = put_text(at, name);
        if (tag == 1) at = put_text(at, "CC0");
        if (tag == 2) at = put_xyz(at, d50);
        if (tag == 3) {
            at = put32(put_name(at, "sf32"), 0);
            for (int number = 0; number < 9; number++) at = put_number(at, adaptation[number]);
        }
        if (tag >= 4 && tag <= 6) at = put_xyz(at, primaries->colours[tag - 4]);
        if (tag == 7) {
            at = put32(put32(put_name(at, "para"), 0), 3 << 16);
            for (int number = 0; number < 5; number++) at = put_number(at, curve[number]);
        }
        entry = put32(put32(put_name(entry, tags[tag]), (uint32_t)(start - profile)), (uint32_t)(at - start));
        while ((at - profile) % 4) at++;
    }
    put32(profile, (uint32_t)(at - profile));
    return (size_t)(at - profile);
}

void set_profile_by_numbers(struct picture *picture, unsigned primaries, unsigned transfer) {
    // The curves of BT.709 and of "unspecified" are shown as that of sRGB, as browsers do. Others, as those of HDR, have
    // no profile.
    bool is_curve_of_srgb = transfer == 1 || transfer == 2 || transfer == 6 || (transfer >= 13 && transfer <= 15);
    if (!is_curve_of_srgb || (primaries != 9 && primaries != 12)) return;
    uint8_t *profile = allocate(PROFILE_SIZE, 1);
    size_t length = primaries == 12 ? profile_of(&display_p3, "Display P3", profile)
                                    : profile_of(&bt2020, "BT.2020", profile);
    set_profile(picture, profile, length);
}
