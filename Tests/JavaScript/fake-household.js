// A simulated household whose hub replaces `fetch`, so that everything above `fetch` is the companion's own code.
// scenario.test.js runs with a real hub.
import { Companion } from "/session/companion.js";
import { sealBox } from "/crypto/box.js";
import { base64, base64url, concat, fields, hex, randomBytes, randomID, u32, u64, unbase64, unhex,
    utf8 } from "/crypto/bytes.js";
import { sealEnvelope } from "/crypto/envelope.js";
import { openJoin, readLink } from "/crypto/invitation.js";
import { freshPair, importPrivate } from "/crypto/p256.js";
import { sha256 } from "/crypto/primitives.js";
import { KeyRing, ringKind } from "/crypto/ring.js";
import { deviceID, sign, signRecord } from "/crypto/signature.js";
import { eventually } from "./harness.js";

/** Creates a simulated device. */
export async function createDevice() {
    const [signing, box] = [await freshPair(), await freshPair()];
    return {
        id: await deviceID(signing.point), signingPoint: signing.point, boxPoint: box.point,
        key: await importPrivate(signing.scalar, signing.point, "ECDSA"),
    };
}

const recordEvent = (record) => `event: record\nid: ${record.sequence}\ndata: ${JSON.stringify(record)}\n\n`;

export class FakeHousehold {
    entries = [];
    head = new Uint8Array(32);
    id = "";
    records = [];
    statusKeys = [randomBytes(32)];
    vault = randomID();
    vaultKey = randomBytes(32);
    /** Functions that replace the hub's response, by route such as "GET /v1/roster". */
    overrides = {};
    requests = [];
    /** The number of wrong PINs. */
    failures = 0;
    streams = [];

    static async make() {
        const household = new this();
        household.computer = await createDevice();
        await household.append(household.computer, household.admit(household.computer, 1));
        household.id = hex(household.head.slice(0, 16));
        return household;
    }

    admit({ signingPoint, boxPoint }, role) {
        return concat([role], signingPoint, boxPoint);
    }

    async entry(author, payload, kind = 1) {
        const number = this.entries.length + 1;
        const signed = concat(utf8("APRO"), [1, kind, 0, 0], u64(number), this.head, u64(1_700_000_000),
            unhex(author.id), payload);
        return concat(signed, await sign(author.key, signed, "roster"));
    }

    async append(author, payload, kind) {
        const entry = await this.entry(author, payload, kind);
        this.entries.push(entry);
        this.head = await sha256(fields("applocker/1/roster", entry.slice(0, -64)));
    }

    /** A record of the household by this author, under the status key of this epoch. */
    async sealed(collection, id, body, { author = this.computer, revision = 1, epoch = this.statusKeys.length,
        key = this.statusKeys[epoch - 1] } = {}) {
        const name = { vault: this.id, collection, id, revision };
        const sealed = await sealEnvelope(utf8(JSON.stringify(body)), name, key, epoch);
        return signRecord(author.key, name, { epoch, author: author.id, sealed });
    }

    async note(title, { author = this.computer, id = randomID(), revision = 1 } = {}) {
        const name = { vault: this.vault, collection: "notes", id, revision };
        const sealed = await sealEnvelope(utf8(JSON.stringify({ title, body: "", created: 1, modified: 1 })), name,
            this.vaultKey, 1);
        return signRecord(author.key, name, { epoch: 1, author: author.id, sealed });
    }

    /** The keys of the household, boxed to a device. */
    async keysFor(device, { author = this.computer, revision = 1 } = {}) {
        const epoch = this.statusKeys.length;
        const ring = new KeyRing([
            { kind: ringKind.vault, vault: this.vault, epoch: 1, key: this.vaultKey },
            ...this.statusKeys.map((key, index) => ({ kind: ringKind.status, vault: this.id, epoch: index + 1, key })),
        ]);
        const name = { vault: this.id, collection: "keys", id: device.id, revision };
        return signRecord(author.key, name,
            { epoch, author: author.id, sealed: await sealBox(ring.plaintext, name, device.boxPoint) });
    }

    event(sentence, previous) {
        return {
            kind: "blocked", computer: this.computer.id, computerName: "den", time: 1_700_000_000_000, sentence,
            ...(previous ? { previous } : {}),
        };
    }

    launch() {
        return {
            computer: this.computer.id, computerName: "den", prompt: randomID(), app: "diary", appName: "Diary",
            path: "/usr/bin/diary", clock: 1_700_000_000_000, expires: 1_700_000_060_000, defaultGrantSeconds: 300,
        };
    }

    /** Stores records at the hub and sends them to its streams. */
    store(...records) {
        for (const record of records) {
            const stored = { ...record, sequence: (this.records.at(-1)?.sequence ?? 0) + 1 };
            this.records.push(stored);
            for (const send of this.streams) send(recordEvent(stored));
        }
    }

    link() {
        const secret = randomBytes(32);
        const bytes = concat([1], unhex(this.id), unhex(this.computer.id), randomBytes(16), secret);
        this.invitation = readLink(`https://hub.made/#pair=${base64url(bytes)}`);
        return `https://hub.made/#pair=${base64url(bytes)}`;
    }

    /** Answers every request of this page from now on. */
    serve() {
        window.fetch = async (url, options) => this.respond(new URL(url), options);
    }

    async respond(url, { method, body, signal, headers }) {
        const route = `${method} ${url.pathname}`;
        this.requests.push({ route, headers, size: body?.length ?? 0 });
        const override = Object.entries(this.overrides).find(([known]) => route.startsWith(known))?.[1];
        const result = override ? await override(url, body)
            : route === "GET /v1/stream" ? this.streaming(Number(headers["Last-Event-ID"]), signal)
            : await this.defaultResponse(route, url, body && JSON.parse(body));
        if (result instanceof Response) return result;
        return new Response(result === undefined ? null : JSON.stringify(result),
            { status: result === undefined ? 204 : 200 });
    }

    async defaultResponse(route, url, body) {
        const after = Number(url.searchParams.get("after"));
        if (route.endsWith("/join")) {
            const joining = await openJoin(this.invitation, unbase64(body.sealed));
            this.phone = { id: body.device, signingPoint: joining.signingKey, boxPoint: joining.boxKey };
            await this.append(this.computer, this.admit(this.phone, 2));
            this.store(await this.keysFor(this.phone));
            return {};
        }
        if (route === "GET /v1/device") return { device: this.phone.id, household: this.id, state: "active" };
        if (route === "GET /v1/household") {
            return { sequence: this.records.at(-1)?.sequence ?? 0, generations: [{ id: "0".repeat(32), after: 0 }] };
        }
        if (route === "GET /v1/roster") return { entries: this.entries.slice(after).map(base64) };
        if (route.startsWith("GET /v1/records/keys/")) {
            return this.records.filter((record) => record.collection === "keys").at(-1);
        }
        if (route === "GET /v1/records") {
            const records = this.records.filter((record) => record.sequence > after);
            return { records, next: this.records.at(-1)?.sequence ?? 0, more: false };
        }
        if (route === "POST /v1/records") {
            return { outcomes: body.records.map(() => ({ sequence: (this.records.at(-1)?.sequence ?? 0) + 1 })) };
        }
        if (route === "PUT /v1/pin-share") [this.shares, this.failures] = [body.entries, 0];
        if (route === "GET /v1/pin-share") return { failures: this.failures, retryAfterSeconds: 0 };
        if (route === "POST /v1/pin-share/attempt") {
            const right = this.shares.findLast(({ verifier }) => verifier === body.verifier);
            this.failures = right ? 0 : this.failures + 1;
            return right ? { share: right.share } : refusing("wrong_pin", 403)();
        }
        if (route === "POST /v1/pin-share/replace") {
            const { changeSecret, ...changed } = body;
            const changeHash = base64(await sha256(unbase64(changeSecret)));
            const old = this.shares.find((entry) => entry.changeHash === changeHash);
            if (!old) return refusing("not_found", 404)();
            this.failures = 0;
            this.shares = [...this.shares.filter((entry) => entry !== old), { ...changed, changeHash }];
        }
        return undefined;
    }

    streaming(after, signal) {
        let isOpen = true;
        let send;
        // As often as the real hub: a device ends a stream that is silent for 45 seconds.
        const beats = setInterval(() => send(":\n\n"), 15_000);
        const end = () => {
            const wasOpen = isOpen;
            isOpen = false;
            clearInterval(beats);
            this.streams = this.streams.filter((other) => other !== send);
            return wasOpen;
        };
        const stream = new ReadableStream({
            start: (controller) => {
                send = (text) => controller.enqueue(utf8(text));
                this.streams.push(send);
                this.disconnect = () => end() && controller.close();
                signal.addEventListener("abort", () => end() && controller.error(signal.reason));
                send(": alive\n\n");
                for (const record of this.records) if (record.sequence > after) send(recordEvent(record));
                send(`event: live\nid: ${this.records.at(-1)?.sequence ?? 0}\n\n`);
            },
            cancel: end,
        });
        return new Response(stream, { status: 200 });
    }
}

/** Pairs a new companion with this household; it has this PIN, is unlocked and connected. */
export async function pairedCompanion(household, { pin = "735102", time } = {}) {
    household.serve();
    const name = `made-${randomID()}`;
    const companion = await Companion.open({ name, time });
    await companion.pair(household.link(), "phone");
    await companion.setPIN(pin);
    await eventually(() => companion.syncLoop.connection === "live", "live");
    return { companion, name };
}

export const refusing = (code, status, rest = {}) => () =>
    new Response(JSON.stringify({ error: { code, message: "No.", ...rest } }), { status });
