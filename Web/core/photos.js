// Intruder photos: boxed to the inbox by a computer, their pictures a stream in a blob of the record's id.
import { unbase64, wipe } from "../crypto/bytes.js";
import { ringKind } from "../crypto/ring.js";
import { sealedBytes } from "../crypto/signature.js";
import { ContentStream, streamHeaderLength, streamName } from "../crypto/stream.js";
import { keyOf } from "../store/store.js";
import { readBody } from "./bodies.js";
import { CompanionError } from "./errors.js";

/** @typedef {import("./device.js").Device} Device */
/**
 * `time`: seconds since 1970.
 * @typedef {{ id: string, computer: string, time: number, app: string | null, failures: number, size: number }} Photo
 */

const maximumSealed = 64 << 20;

export class Photos {
    /** @param {Device} device */
    constructor(device) {
        this.device = device;
    }

    /** @param {import("../store/store.js").Row} row */
    async #open(row) {
        const sealed = sealedBytes(row.record);
        return sealed && readBody("intruders", await this.device.keys.openInbox(row.record, sealed));
    }

    /**
     * Newest first; those that this device has no key for are left out. Throws CompanionError `locked`.
     * @returns {Promise<Photo[]>}
     */
    async list() {
        const { keys } = this.device;
        const rows = await this.device.store.records("intruders");
        const opened = await Promise.all(rows.map(async (row) => {
            const content = await this.#open(row).catch(() => null);
            return content && {
                id: row.record.id, computer: row.record.author, time: Number(content.time) || 0, app: content.app ?? null,
                failures: Number(content.failures) || 0, size: Number(content.size) || 0,
            };
        }));
        this.device.still(keys);
        return opened.flatMap((photo) => photo ?? []);
    }

    /**
     * The picture, a JPEG; nothing of it is kept. Throws CompanionError, FormatError, HubError, HubUnreachable.
     * @param {string} id
     * @returns {Promise<Uint8Array>}
     */
    async picture(id) {
        const { keys } = this.device;
        const row = await this.device.store.record(keyOf("intruders", id));
        const isOwn = keys.ring.entries.some(({ kind, vault }) => kind === ringKind.inbox && vault === row?.record.vault);
        const content = row && isOwn && (await this.#open(row));
        if (!content) throw new CompanionError("notFound", "There is no such photo any more.");
        const { hub } = this.device;
        const { size, isComplete } = await hub.blobState(id);
        if (!isComplete || size > maximumSealed) throw new CompanionError("notFound", "The photo is not all at the hub yet.");
        const contentKey = unbase64(content.contentKey);
        const name = streamName({ vault: row.record.vault, collection: "intruders", id });
        const stream = await ContentStream.opening(
            await hub.readBlob(id, 0, Math.min(streamHeaderLength, size)), name, contentKey);
        wipe(contentKey);
        const layout = stream.layout(size);
        const picture = new Uint8Array(size - streamHeaderLength - 16 * layout.count);
        for (let index = 0; index < layout.count; index += 1) {
            const chunk = await hub.readBlob(id, ...layout.range(index));
            picture.set(await stream.open(chunk, index, index === layout.count - 1), index * stream.chunkSize);
        }
        this.device.still(keys);
        return picture;
    }
}
