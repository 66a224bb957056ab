// Images that the browser writes contain no metadata.
import { exifPrefix, readExif } from "/formats/exif.js";
import { typeOf } from "/formats/image-type.js";
import { concat, u32, utf8 } from "/crypto/bytes.js";
import { equal } from "./harness.js";
import { createPicture } from "./fake-moments.js";

export const tests = {
    async imagesWrittenByTheBrowserHaveNoMetadata() {
        const picture = await createPicture(64, 64, 1);
        equal([readExif(picture.slice(0, exifPrefix)), typeOf(picture)], [null, "image/jpeg"], "JPEG");
        // Not every browser writes WebP.
        const types = [await createPicture(8, 8, 2, "image/png"), utf8("RIFF....WEBPVP8 ")].map(typeOf);
        equal(types, ["image/png", "image/webp"], "by their first bytes");
        equal(typeOf(concat(u32(24), utf8("ftypheic"))), "image/heic", "HEIC");
        equal([typeOf(utf8("<svg")), typeOf(new Uint8Array()), typeOf(concat(u32(24), utf8("ftypqt  ")))],
            [null, null, null], "types of other files");
    },
};
