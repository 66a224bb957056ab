// Intruder photos: sealed to the inbox by a computer, each picture a stream in a blob of the record's id.
import { unbase64, wipe } from "../../crypto/bytes.js";
import { ringKind } from "../../crypto/ring.js";
import { sealedBytes } from "../../crypto/signature.js";
import { openChunks, streamHeaderLength, streamName } from "../../crypto/stream.js";
import { readBody } from "../../formats/record-bodies.js";
import { CompanionError } from "../../household/errors.js";

/**
 * `time`: seconds since 1970.
 * @typedef {{ id: string, computer: string, time: number, app: string | null, failures: number, size: number }} Photo
 */

const maximumSealed = 64 << 20;

export class IntruderPhotos {
    /** @param {DeviceSession} device */
    constructor(device) {
        this.device = device;
    }

    /** @param {HubRecord} record */
    async #open(record) {
        const sealed = sealedBytes(record);
        return sealed && readBody("intruders", await this.device.keys.openInbox(record, sealed));
    }

    /**
     * Newest first, without those that this device has no key for. Throws CompanionError `locked`.
     * @returns {Promise<Photo[]>}
     */
    async list() {
        const { keys } = this.device;
        const records = await this.device.storedAll("intruders");
        const opened = await Promise.all(records.map(async ({ record }) => {
            const content = await this.#open(record).catch(() => null);
            return content && {
                id: record.id, computer: record.author, time: Number(content.time) || 0, app: content.app ?? null,
                failures: Number(content.failures) || 0, size: Number(content.size) || 0,
            };
        }));
        this.device.requireUnlocked(keys);
        return opened.flatMap((photo) => photo ?? []);
    }

    /**
     * A JPEG, which is not stored. Throws CompanionError, FormatError, HubError, HubUnreachable.
     * @param {string} id
     * @returns {Promise<Uint8Array>}
     */
    async picture(id) {
        const { keys } = this.device;
        const { record } = await this.device.stored("intruders", id);
        const isOwn = keys.ring.entries.some(({ kind, vault }) => kind === ringKind.inbox && vault === record?.vault);
        const content = record && isOwn && (await this.#open(record));
        if (!content) throw new CompanionError("notFound", "This photo no longer exists.");
        const { hub } = this.device;
        const { size, isComplete } = await hub.blobState(id);
        if (!isComplete || size > maximumSealed) {
            throw new CompanionError("notFound", "The photo is not fully uploaded to the hub yet.");
        }
        const contentKey = unbase64(content.contentKey);
        const name = streamName({ vault: record.vault, collection: "intruders", id });
        const { count, chunk, chunkSize } = await openChunks(size, (start, end) => hub.readBlob(id, start, end), name,
            contentKey).finally(() => wipe(contentKey));
        const picture = new Uint8Array(size - streamHeaderLength - 16 * count);
        for (let index = 0; index < count; index += 1) picture.set(await chunk(index), index * chunkSize);
        this.device.requireUnlocked(keys);
        return picture;
    }
}
