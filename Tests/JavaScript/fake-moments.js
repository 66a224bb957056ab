// Pictures created in the page, and a simulated hub with records and blobs, for the tests of moments.
import { base64, concat, hex, u16, u32, unbase64, utf8 } from "/crypto/bytes.js";
import { sha256 } from "/crypto/primitives.js";
import { FakeHousehold, refusing } from "./fake-household.js";

/**
 * Like the real hub it accepts pieces only in order, a record only with complete blobs, and a revision only if it
 * replaces the stored one.
 */
export class MomentHub extends FakeHousehold {
    /** @type {Map<string, { size: number, hash: string, bytes: Uint8Array, isComplete: boolean }>} */
    blobs = new Map();
    /** Decreases with every request that changes something; at 0 the network fails. */
    requestsLeft = Infinity;

    async respond(url, options) {
        if (options.method !== "GET" && /^\/v1\/(blobs|records)/.test(url.pathname)) {
            if (this.requestsLeft <= 0) throw new TypeError("no network");
            this.requestsLeft -= 1;
        }
        const route = `${options.method} ${url.pathname}`;
        if (!url.pathname.startsWith("/v1/blobs") || Object.keys(this.overrides)
            .some((known) => route.startsWith(known))) {
            return super.respond(url, options);
        }
        this.requests.push({ route });
        const result = await this.blob(options, url);
        return result instanceof Response ? result : new Response(JSON.stringify(result));
    }

    async blob({ method, body, headers }, url) {
        const state = ({ size, bytes, isComplete }) => ({ size, received: bytes.length, isComplete });
        if (method === "POST") {
            const { id, size, hash } = JSON.parse(body);
            if (!this.blobs.has(id)) this.blobs.set(id, { size, hash, bytes: new Uint8Array(), isComplete: false });
            return state(this.blobs.get(id));
        }
        const blob = this.blobs.get(url.pathname.split("/")[3]);
        if (!blob) return refusing("not_found", 404)();
        if (method === "PATCH") {
            if (Number(url.searchParams.get("offset")) !== blob.bytes.length || body.length > 4 << 20) {
                return refusing("conflict", 409)();
            }
            blob.bytes = concat(blob.bytes, body);
            blob.isComplete = blob.bytes.length === blob.size;
            if (blob.isComplete && base64(await sha256(blob.bytes)) !== blob.hash) {
                [blob.bytes, blob.isComplete] = [new Uint8Array(), false];
                return refusing("bad_request", 400)();
            }
            return state(blob);
        }
        if (url.pathname.endsWith("/state")) return state(blob);
        if (!blob.isComplete) return refusing("conflict", 409)();
        const [start, end] = headers.Range.match(/\d+/g).map(Number);
        return new Response(blob.bytes.slice(start, end + 1), { status: 206 });
    }

    async defaultResponse(route, url, body, signal) {
        if (route === "GET /v1/records") {
            const newest = new Map(this.records.map((record) => [`${record.collection}/${record.id}`, record]));
            const records = [...newest.values()]
                .filter(({ sequence }) => sequence > Number(url.searchParams.get("after")));
            return { records, next: this.records.at(-1)?.sequence ?? 0, more: false };
        }
        if (route !== "POST /v1/records") return super.defaultResponse(route, url, body, signal);
        return {
            outcomes: body.records.map((record) => {
                const known = this.newest(record.collection, record.id);
                if (known?.signature === record.signature) return { sequence: known.sequence };
                if (record.blobs.some((blob) => !this.blobs.get(blob)?.isComplete)) {
                    return { error: { code: "bad_request", message: "" } };
                }
                if (known && known.revision !== record.replaces) return { conflict: known };
                if (!known && (record.replaces ?? 0) !== 0) return { error: { code: "conflict", message: "" } };
                const { replaces: _, ...stored } = record;
                this.store(stored);
                return { sequence: this.records.at(-1).sequence };
            }),
        };
    }

    newest(collection, id) {
        return this.records.filter((record) => record.collection === collection && record.id === id).at(-1);
    }

    /** The newest revisions, without tombstones. */
    kept(collection) {
        const ids = new Set(this.records.filter((record) => record.collection === collection).map(({ id }) => id));
        return [...ids].map((id) => this.newest(collection, id)).filter(({ sealed }) => sealed);
    }

    /** Blobs that no record names; the hub removes them after a day. */
    orphans() {
        const named = new Set(this.records.filter((record) => this.newest(record.collection, record.id) === record)
            .flatMap(({ blobs }) => blobs));
        return [...this.blobs.keys()].filter((id) => !named.has(id));
    }

    sweep() {
        for (const id of this.orphans()) this.blobs.delete(id);
    }
}

/** Numbers that are the same in every run. */
export function numbers(seed) {
    let state = seed >>> 0 || 1;
    return () => {
        state ^= state << 13;
        state >>>= 0;
        state ^= state >>> 17;
        state ^= state << 5;
        state >>>= 0;
        return state / 2 ** 32;
    };
}

/** Paints a picture; with `grain` it compresses as badly as a camera's. */
export async function createPicture(width, height, seed, type = "image/jpeg", grain = false) {
    const canvas = new OffscreenCanvas(width, height);
    const context = canvas.getContext("2d");
    const next = numbers(seed);
    const sky = context.createLinearGradient(0, 0, width, height);
    for (const stop of [0, 0.5, 1]) sky.addColorStop(stop, `hsl(${Math.floor(next() * 360)} 70% 50%)`);
    context.fillStyle = sky;
    context.fillRect(0, 0, width, height);
    for (let shape = 0; shape < 2000; shape += 1) {
        context.fillStyle = `hsl(${Math.floor(next() * 360)} 60% ${Math.floor(next() * 100)}%)`;
        context.fillRect(next() * width, next() * height, (next() * width) / 20, (next() * height) / 20);
    }
    if (grain) {
        const tile = new OffscreenCanvas(256, 256);
        const dots = new ImageData(256, 256);
        for (let index = 0; index < dots.data.length; index += 4) {
            dots.data.fill(next() * 256, index, index + 3);
            dots.data[index + 3] = 28;
        }
        tile.getContext("2d").putImageData(dots, 0, 0);
        context.fillStyle = context.createPattern(tile, "repeat");
        context.fillRect(0, 0, width, height);
    }
    return new Uint8Array(await (await canvas.convertToBlob({ type, quality: 0.9 })).arrayBuffer());
}

/**
 * A TIFF with the metadata of cameras. Rationals are pairs.
 * @param {{ date?: string, offset?: string, latitude?: [string, number[][]], longitude?: [string, number[][]],
 *   orientation?: number, description?: string }} facts
 */
export function createTiff({ date, offset, latitude, longitude, orientation, description }, isLittle = false) {
    const order = (bytes) => (isLittle ? bytes.reverse() : bytes);
    const [s, l] = [(value) => order(u16(value)), (value) => order(u32(value))];
    const text = (value) => [2, utf8(`${value}\0`).length, utf8(`${value}\0`)];
    const rationals = (list) => [5, list.length, concat(...list.flatMap(([above, below]) => [l(above), l(below)]))];
    const entries = (list) => list.filter(Boolean);
    const root = entries([
        description && [0x010e, ...text(description)], orientation && [0x0112, 3, 1, s(orientation)],
        [0x8769, 4, 1, "exif"], [0x8825, 4, 1, "gps"],
    ]);
    const exif = entries([date && [0x9003, ...text(date)], offset && [0x9011, ...text(offset)]]);
    const gps = entries([
        latitude && [1, ...text(latitude[0])], latitude && [2, ...rationals(latitude[1])],
        longitude && [3, ...text(longitude[0])], longitude && [4, ...rationals(longitude[1])],
    ]);
    const directories = { root, exif, gps };
    const starts = { root: 8, exif: 0, gps: 0 };
    starts.exif = 8 + 2 + root.length * 12 + 4;
    starts.gps = starts.exif + 2 + exif.length * 12 + 4;
    let end = starts.gps + 2 + gps.length * 12 + 4;
    const [parts, values] = [[], []];
    for (const directory of Object.values(directories)) {
        parts.push(s(directory.length));
        for (const [tag, type, count, value] of directory) {
            const bytes = typeof value === "string" ? l(starts[value]) : value;
            parts.push(s(tag), s(type), l(count));
            if (bytes.length <= 4) parts.push(concat(bytes, new Uint8Array(4 - bytes.length)));
            else {
                parts.push(l(end));
                values.push(bytes);
                end += bytes.length;
            }
        }
        parts.push(l(0));
    }
    return concat(utf8(isLittle ? "II" : "MM"), s(42), l(8), ...parts, ...values);
}

/** The picture with an Exif segment at its front. @param {Uint8Array} jpeg @param {Uint8Array} tiff */
export const withExif = (jpeg, tiff) =>
    concat(jpeg.slice(0, 2), [0xff, 0xe1], u16(tiff.length + 8), utf8("Exif\0\0"), tiff, jpeg.slice(2));

/** Returns the position of `needle` in `haystack`, or -1. */
export function find(haystack, needle) {
    for (let at = haystack.indexOf(needle[0]); at >= 0; at = haystack.indexOf(needle[0], at + 1)) {
        if (needle.every((byte, index) => haystack[at + index] === byte)) return at;
    }
    return -1;
}

/** Returns all bytes of a database, with text and base64 decoded. @param {string} name */
export async function everythingIn(name) {
    const database = await new Promise((resolve, reject) => {
        const request = indexedDB.open(name);
        request.onsuccess = () => resolve(request.result);
        request.onerror = () => reject(request.error);
    });
    const parts = [];
    const take = (value) => {
        if (typeof value === "string") {
            parts.push(utf8(value));
            if (/^[A-Za-z0-9+/]{40,}=*$/.test(value)) parts.push(unbase64(value));
        } else if (value instanceof Uint8Array) parts.push(value);
        else if (value instanceof ArrayBuffer) parts.push(new Uint8Array(value));
        else if (value && typeof value === "object" && !(value instanceof CryptoKey))
            Object.values(value).forEach(take);
    };
    for (const store of database.objectStoreNames) {
        const request = database.transaction(store).objectStore(store).getAll();
        await new Promise((resolve) => (request.onsuccess = resolve));
        request.result.forEach(take);
    }
    database.close();
    return concat(...parts);
}

export { hex };
