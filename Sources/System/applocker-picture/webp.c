#include "picture.h"

#include <webp/decode.h>
#include <webp/demux.h>

struct picture decode_webp(struct bytes file) {
    WebPData data = {file.start, file.length};
    WebPDemuxState state;
    WebPDemuxer *demuxer = WebPDemuxPartial(&data, &state);
    if (state != WEBP_DEMUX_DONE) fail(state == WEBP_DEMUX_PARSE_ERROR ? "damaged" : "truncated");
    uint32_t width = WebPDemuxGetI(demuxer, WEBP_FF_CANVAS_WIDTH);
    uint32_t height = WebPDemuxGetI(demuxer, WEBP_FF_CANVAS_HEIGHT);
    check_size(width, height);
    struct picture picture = new_picture(0, 0);
    picture.width = picture.full_width = width;
    picture.height = picture.full_height = height;
    picture.frames = WebPDemuxGetI(demuxer, WEBP_FF_FRAME_COUNT);
    picture.rgb = allocate((size_t)width * height, 4);
    WebPIterator frame;
    if (!WebPDemuxGetFrame(demuxer, 1, &frame)) fail("damaged");
    // The first frame may cover a part of the canvas, which is transparent elsewhere.
    if (frame.x_offset < 0 || frame.y_offset < 0 || (uint64_t)frame.x_offset + (uint64_t)frame.width > width
        || (uint64_t)frame.y_offset + (uint64_t)frame.height > height)
        fail("damaged");
    size_t offset = ((size_t)frame.y_offset * width + (size_t)frame.x_offset) * 4;
    if (!WebPDecodeRGBAInto(
            frame.fragment.bytes, frame.fragment.size, picture.rgb + offset, (size_t)width * height * 4 - offset,
            (int)width * 4))
        fail("damaged");
    flatten(picture.rgb, (size_t)width * height);
    WebPChunkIterator chunk;
    if (WebPDemuxGetChunk(demuxer, "ICCP", 1, &chunk)) set_profile(&picture, chunk.chunk.bytes, chunk.chunk.size);
    return picture;
}
