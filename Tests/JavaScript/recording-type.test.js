// The type of a video or a voice note by its first bytes.
import { fileExtensions } from "/formats/file-extensions.js";
import { typeOf } from "/formats/image-type.js";
import { pictureTypes, recordingTypes } from "/formats/moment-format.js";
import { recordingStart, recordingType, withoutPicture } from "/formats/recording-type.js";
import { equal, expect } from "./harness.js";

/** @param {string} text of Latin-1 */
const bytes = (text) => Uint8Array.from(text, (letter) => letter.charCodeAt(0));
/** @param {string} doctype */
const matroska = (doctype) =>
    `\x1a\x45\xdf\xa3\x9f\x42\x86\x81\x01\x42\x82${String.fromCharCode(0x80 + doctype.length)}${doctype}`;

export const tests = {
    async aFileIsRecognizedByItsFirstBytes() {
        const known = {
            "\0\0\0\x18ftypmp42\0\0\0\0": "video/mp4", "\0\0\0\x18ftypisom": "video/mp4",
            "\0\0\0\x18ftypM4A ": "video/mp4", "\0\0\0\x14ftypqt  ": "video/quicktime",
            "\0\0\x01\0moov": "video/quicktime", "\0\0\0\x08wide": "video/quicktime",
            [matroska("webm")]: "video/webm", "OggS\0\x02": "audio/ogg", "RIFF\x24\0\0\0WAVEfmt ": "audio/wav",
            "ID3\x04": "audio/mpeg", "\xff\xfb\x90": "audio/mpeg", "\xff\xf3\x40": "audio/mpeg",
        };
        for (const [start, type] of Object.entries(known)) {
            equal(recordingType(bytes(start)), type, JSON.stringify(start));
            expect(recordingTypes.includes(type), type);
            equal(typeOf(bytes(start)), null, `${JSON.stringify(start)} is no picture`);
        }
    },

    async picturesAndOtherFilesAreNone() {
        const others = ["", "\0", "RIFF", "RIFF\x24\0\0\0WEBPVP8 ", "RIFF\x24\0\0\0AVI LIST", matroska("matroska"),
            "\x1a\x45\xdf\xa3", "\0\0\0\x18ftypheic", "\0\0\0\x18ftypavif", "\0\0\0\x18ftypM4VP", "\xff\xd8\xff\xe0",
            "\x89PNG\r\n\x1a\n", "GIF89a", "%PDF-1.7", "PK\x03\x04", "<!doctype html>", "\xff\xf1\x50", "\xff"];
        for (const start of others) equal(recordingType(bytes(start)), null, JSON.stringify(start));
        // What follows the first bytes is not looked at.
        equal(recordingType(bytes(`\x1a\x45\xdf\xa3${" ".repeat(recordingStart)}\x42\x82\x84webm`)), null, "too late");
    },

    async everyTypeHasATypeOfItsSoundAndAFileExtension() {
        equal(["video/mp4", "video/quicktime", "video/webm", "audio/wav"].map(withoutPicture),
            ["audio/mp4", "audio/mp4", "audio/webm", "audio/wav"], "without a picture");
        equal(Object.keys(fileExtensions).sort(), [...pictureTypes, ...recordingTypes].sort(), "each has an extension");
    },
};
