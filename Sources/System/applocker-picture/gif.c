#include "picture.h"

#include <gif_lib.h>
#include <string.h>

static int take(GifFileType *gif, GifByteType *target, int length) {
    struct bytes *rest = gif->UserData;
    if ((size_t)length > rest->length) length = (int)rest->length;
    memcpy(target, rest->start, (size_t)length);
    rest->start += length;
    rest->length -= (size_t)length;
    return length;
}

static _Noreturn void fail_with(GifFileType *gif) {
    if (gif->Error == D_GIF_ERR_NOT_ENOUGH_MEM) fail("memory");
    fail(((struct bytes *)gif->UserData)->length ? "damaged" : "truncated");
}

// GIF89a, appendix E: the first row and the distance of the rows of each pass.
static const int passes[4][2] = {{0, 8}, {4, 8}, {2, 4}, {1, 2}};

static void draw_row(
    GifFileType *gif, struct picture *picture, const ColorMapObject *colors, int transparent, GifPixelType *row, int y
) {
    const GifImageDesc *image = &gif->Image;
    if (DGifGetLine(gif, row, image->Width) == GIF_ERROR) fail_with(gif);
    for (int x = 0; x < image->Width; x++) {
        if (row[x] == transparent) continue;
        if (row[x] >= colors->ColorCount) fail("damaged");
        const GifColorType *color = &colors->Colors[row[x]];
        uint8_t *pixel = picture->rgb + ((size_t)(image->Top + y) * picture->width + (size_t)(image->Left + x)) * 3;
        pixel[0] = color->Red, pixel[1] = color->Green, pixel[2] = color->Blue;
    }
}

static void draw(GifFileType *gif, struct picture *picture, int transparent) {
    const GifImageDesc *image = &gif->Image;
    const ColorMapObject *colors = image->ColorMap ? image->ColorMap : gif->SColorMap;
    if (!colors || image->Left < 0 || image->Top < 0 || image->Width <= 0 || image->Height <= 0
        || (uint32_t)(image->Left + image->Width) > picture->width
        || (uint32_t)(image->Top + image->Height) > picture->height)
        fail("damaged");
    GifPixelType *row = allocate((size_t)image->Width, sizeof *row);
    if (!image->Interlace) {
        for (int y = 0; y < image->Height; y++) draw_row(gif, picture, colors, transparent, row, y);
        return;
    }
    for (int pass = 0; pass < 4; pass++) {
        for (int y = passes[pass][0]; y < image->Height; y += passes[pass][1])
            draw_row(gif, picture, colors, transparent, row, y);
    }
}

struct picture decode_gif(struct bytes file) {
    int error;
    GifFileType *gif = DGifOpen(&file, take, &error);
    if (!gif) fail(error == D_GIF_ERR_READ_FAILED ? "truncated" : "damaged");
    check_size((uint64_t)gif->SWidth, (uint64_t)gif->SHeight);
    struct picture picture = new_picture((uint32_t)gif->SWidth, (uint32_t)gif->SHeight);
    memset(picture.rgb, 0xFF, (size_t)picture.width * picture.height * 3);
    picture.frames = 0;
    int transparent = NO_TRANSPARENT_COLOR;
    while (true) {
        GifRecordType record;
        GifByteType *block;
        int code;
        bool is_read = DGifGetRecordType(gif, &record) == GIF_OK;
        if (is_read && record == IMAGE_DESC_RECORD_TYPE) {
            is_read = DGifGetImageDesc(gif) == GIF_OK;
            if (is_read && picture.frames++ == 0) {
                draw(gif, &picture, transparent);
            } else if (is_read && (is_read = DGifGetCode(gif, &code, &block) == GIF_OK)) {
                while (is_read && block) is_read = DGifGetCodeNext(gif, &block) == GIF_OK;
            }
        } else if (is_read && record == EXTENSION_RECORD_TYPE) {
            is_read = DGifGetExtension(gif, &code, &block) == GIF_OK;
            GraphicsControlBlock control;
            if (is_read && block && code == GRAPHICS_EXT_FUNC_CODE && picture.frames == 0
                && DGifExtensionToGCB(block[0], block + 1, &control) == GIF_OK)
                transparent = control.TransparentColor;
            while (is_read && block) is_read = DGifGetExtensionNext(gif, &block) == GIF_OK;
        } else if (is_read && record == TERMINATE_RECORD_TYPE) {
            break;
        }
        // What is damaged behind the first picture doesn't concern it.
        if (!is_read && picture.frames > 0) break;
        if (!is_read) fail_with(gif);
    }
    if (picture.frames == 0) fail("damaged");
    return picture;
}
