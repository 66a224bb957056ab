// A companion's hand-written checks of messages, applied to the samples that Swift decodes and encodes.
import { utf8 } from "/crypto/bytes.js";
import { readMoment } from "/formats/moment-format.js";
import { readBody } from "/formats/record-bodies.js";
import { isRecord } from "/hub/events.js";
import { equal, expect, vectors } from "./harness.js";
import { readSamples } from "./shapes.js";

/** @param {string} kind */
const body = (kind) => (/** @type {unknown} */ value) => readBody(kind, utf8(JSON.stringify(value))) !== null;

/** Functions by message: whether a companion accepts a value. */
const checks = {
    DeviceName: body("devices"), ComputerStatus: body("status"), ComputerApps: body("apps"),
    HouseholdEvent: body("events"), LaunchRequest: body("requests"), CommandReply: body("replies"),
    SealedNote: body("notes"), HubRecord: isRecord,
    MomentBody: (/** @type {unknown} */ value) => readMoment(utf8(JSON.stringify(value))) !== null,
};
/** Not checked with a record: a property that only devices send, and a list that may be absent. */
const unchecked = new Set(["HubRecord.replaces", "HubRecord.blobs"]);

/**
 * Each object inside a value, with its path; those of a list have one path.
 * @param {any} value @param {string} path @returns {{ path: string, object: Record<string, any> }[]}
 */
function objects(value, path) {
    if (Array.isArray(value)) return value.flatMap((item) => objects(item, path));
    if (value === null || typeof value !== "object") return [];
    return [{ path, object: value },
        ...Object.entries(value).flatMap(([name, inner]) => objects(inner, `${path}.${name}`))];
}

/**
 * Each property of the samples of each message, in a copy that may be changed.
 * @param {(place: { path: string, sample: any, object: Record<string, any>, name: string, isOptional: boolean,
 *   accepts: (value: unknown) => boolean }) => void} visit
 */
async function forEachProperty(visit) {
    const messages = readSamples(await vectors("messages"));
    let count = 0;
    for (const [message, accepts] of Object.entries(checks)) {
        const all = objects(messages[message], message);
        for (const sample of messages[message]) {
            for (const [index, { path, object }] of objects(sample, message).entries()) {
                for (const name of Object.keys(object)) {
                    if (unchecked.has(`${path}.${name}`)) continue;
                    const copy = structuredClone(sample);
                    const isOptional = all.some((other) => other.path === path && !Object.hasOwn(other.object, name));
                    visit({
                        path: `${path}.${name}`, sample: copy, object: objects(copy, message)[index].object, name,
                        isOptional, accepts,
                    });
                    count += 1;
                }
            }
        }
    }
    expect(count > 100, "the samples have properties");
}

export const tests = {
    async everySampleIsAccepted() {
        const messages = await vectors("messages");
        for (const [message, accepts] of Object.entries(checks)) {
            for (const sample of messages[message]) expect(accepts(sample), `${message}: ${JSON.stringify(sample)}`);
        }
    },

    async aPropertyInEverySampleIsRequired() {
        await forEachProperty(({ path, sample, object, name, isOptional, accepts }) => {
            delete object[name];
            equal(accepts(sample), isOptional, `without ${path}`);
        });
    },

    async aPropertyOfAnotherTypeIsRefused() {
        await forEachProperty(({ path, sample, object, name, accepts }) => {
            object[name] = typeof object[name] === "object" ? "text" : { text: 1 };
            expect(!accepts(sample), `${path} of another type is refused`);
        });
    },

    timesOutsideTheCalendarAreRefused() {
        const id = "1".repeat(32);
        const timed = {
            events: (/** @type {number} */ time) =>
                ({ kind: "blocked", computer: id, computerName: "den", time, sentence: "" }),
            apps: (/** @type {number} */ clock) => ({ clock, apps: [], others: [], categories: [] }),
            replies: (/** @type {number} */ clock) => ({ computer: id, clock, state: "done", sentence: "" }),
            notes: (/** @type {number} */ time) =>
                ({ title: "", body: "", created: time / 1000, modified: time / 1000 }),
            intruders: (/** @type {number} */ time) => ({ contentKey: "", time: time / 1000 }),
        };
        for (const [kind, at] of Object.entries(timed)) {
            const isRead = (/** @type {number} */ time) => body(kind)(at(time));
            equal([0, 1_700_000_000_000, 253_402_214_400_000].map(isRead), [true, true, true], kind);
            equal([253_402_214_401_000, 8.64e15, 1e308, -1e308].map(isRead), [false, false, false, false], kind);
        }
    },
};
