// The picture of a voice note: how loud it is, from its start to its end.

import { CompanionError } from "../../household/errors.js";

/** In pixels. */
const [width, height, bars] = [1280, 720, 64];
/** A longer file is not decoded, which takes many times its size in memory; its bars are even. */
const mostDecoded = 4 << 20;
/** Samples a second; the lowest that every browser supports. */
const rate = 8_000;

/** @param {Blob} file @returns {Promise<Blob>} a JPEG */
export async function waveform(file) {
    const levels = await levelsOf(file);
    const canvas = document.createElement("canvas");
    [canvas.width, canvas.height] = [width, height];
    const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
    const ground = context.createLinearGradient(0, 0, width, height);
    ground.addColorStop(0, "#4a2a4f");
    ground.addColorStop(1, "#233056");
    context.fillStyle = ground;
    context.fillRect(0, 0, width, height);
    context.strokeStyle = "#f3d9e4";
    context.lineCap = "round";
    const step = width * 0.8 / bars;
    context.lineWidth = step * 0.5;
    levels.forEach((level, index) => {
        const [across, half] = [width * 0.1 + (index + 0.5) * step, Math.max(1, level * height * 0.25)];
        context.beginPath();
        context.moveTo(across, height / 2 - half);
        context.lineTo(across, height / 2 + half);
        context.stroke();
    });
    return jpegOf(canvas);
}

/** @param {Blob} file @returns {Promise<number[]>} from 0 to 1 */
async function levelsOf(file) {
    const even = Array.from({ length: bars }, () => 0.25);
    if (file.size > mostDecoded) return even;
    try {
        const sound = await new OfflineAudioContext(1, 1, rate).decodeAudioData(await file.arrayBuffer());
        const samples = sound.getChannelData(0);
        const each = samples.length / bars;
        const peaks = even.map((_, index) => samples.subarray(Math.floor(index * each), Math.floor((index + 1) * each))
            .reduce((most, sample) => Math.max(most, Math.abs(sample)), 0));
        const most = Math.max(...peaks);
        return most > 0 ? peaks.map((peak) => peak / most) : even;
    } catch {
        return even;
    }
}

/** @param {HTMLCanvasElement} canvas emptied @returns {Promise<Blob>} */
export async function jpegOf(canvas) {
    const blob = await new Promise((/** @type {(blob: Blob | null) => void} */ resolve) =>
        canvas.toBlob(resolve, "image/jpeg", 0.85));
    canvas.width = 0;
    if (!blob) throw new CompanionError("notPicture", "This browser can’t draw a picture of this recording.");
    return blob;
}
