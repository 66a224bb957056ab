// The content of a household's records: Sources/Shared/Household/HouseholdMessages.swift has each field. A record with
// a missing field, or one of another type, is refused.
import { isID } from "../crypto/bytes.js";

/**
 * `owner`: of a member of a shared vault; docs/formats.md, "Shared vaults". `sheet`: a recovery sheet; `spareOf`: the
 * member that a spare one belongs to; "Households of phones".
 * @typedef {{ name: string, owner?: string, sheet?: boolean, spareOf?: string }} DeviceName
 * @typedef {{ version: string, isSetUp: boolean, protection: "held" | "weak" | "gate_away", degraded: string[],
 *   monitoring: { isOn: boolean, endsInSeconds?: number }, lockedApps: number, unlockedApps: number,
 *   waitingLaunches: number, prompterConnected: boolean, lockout: { failures: number, remainingSeconds: number } }}
 *   StatusReport
 * @typedef {{ name: string, clock: number, status: StatusReport, auditHead?: string, lastEvent?: string,
 *   rosterNumber: number, rosterHead?: string, hubProblems: string[], vault?: string, integrity?: IntegrityFinding[],
 *   alertDays?: number }} ComputerStatus
 * @typedef {{ id: string, title: string, state: "ok" | "warning" | "problem", sentence: string }} IntegrityFinding
 * @typedef {{ id: string, name: string, state: "locked" | "unlocked" | "outside_schedule" | "monitoring_off",
 *   opensUntil?: number, schedule?: string, categories: string[] }} RemoteApp
 * @typedef {{ id: string, name: string }} OtherApp
 * @typedef {{ name: string, schedule?: string }} RemoteCategory
 * @typedef {{ clock: number, apps: RemoteApp[], others?: OtherApp[], categories?: RemoteCategory[] }} ComputerApps
 * @typedef {{ app: string, type: "image/png" | "image/svg+xml", data: string }} RemoteIcon `data` in base64
 * @typedef {{ icons: RemoteIcon[] }} ComputerIcons
 * @typedef {"blocked" | "failed" | "photographed" | "unlocked" | "relocked" | "degraded" | "started" | "stopped"
 *   | "apps" | "rules" | "backup" | "recovery" | "changed" | "hub_misbehaved"} EventKind a newer computer may send
 *   other words
 * @typedef {{ kind: EventKind, computer: string, computerName: string, time: number, app?: string, appName?: string,
 *   reason?: string, sentence: string, photo?: string, previous?: string }} HouseholdEvent
 * @typedef {{ computer: string, computerName: string, prompt: string, app: string, appName: string, path: string,
 *   parentName?: string, userName?: string, clock: number, expires: number, defaultGrantSeconds: number,
 *   outcome?: "allowed" | "denied" | "timed_out" | "gone" }} LaunchRequest
 * @typedef {{ computer: string, clock: number, state: "received" | "done" | "refused", reason?: string,
 *   sentence: string, record?: string }} CommandReply
 * @typedef {{ title: string, body: string, created: number, modified: number }} NoteContent
 * @typedef {{ time: number, app?: string, failures: number, size: number, contentKey: string }} IntruderContent
 */
/**
 * By collection; `replies` are the later revisions of `commands`.
 * @typedef {{ devices: DeviceName, status: ComputerStatus, apps: ComputerApps, icons: ComputerIcons,
 *   events: HouseholdEvent,
 *   requests: LaunchRequest, replies: CommandReply, notes: NoteContent, intruders: IntruderContent }} RecordBodies
 */

/** @typedef {(value: any) => boolean} Check */

/** @type {Check} */ const base64 = (value) => text(value) && /^[A-Za-z0-9+/]*={0,2}$/.test(value);
/** @type {Check} */ const text = (value) => typeof value === "string";
/** @type {Check} */ const number = (value) => typeof value === "number" && Number.isFinite(value);
// Milliseconds and seconds since 1970, within the years that a browser writes as a date.
/** @type {Check} */ const time = (value) => number(value) && value >= 0 && value <= 253_402_214_400_000;
/** @type {Check} */ const seconds = (value) => number(value) && value >= -62_135_510_400 && value <= 253_402_214_400;
/** @type {Check} */ const flag = (value) => typeof value === "boolean";
/** @param {Check} check @returns {Check} */
const maybe = (check) => (value) => value === undefined || value === null || check(value);
/** @param {Check} check @returns {Check} */
const list = (check) => (value) => Array.isArray(value) && value.every(check);
/** @param {...string} words @returns {Check} */
const oneOf = (...words) => (value) => words.includes(value);
/** @param {Record<string, Check>} shape @returns {Check} */
const object = (shape) => (value) =>
    value !== null && typeof value === "object" && !Array.isArray(value)
    && Object.entries(shape).every(([key, check]) => check(value[key]));

const status = object({
    version: text, isSetUp: flag, protection: text, degraded: list(text),
    monitoring: object({ isOn: flag, endsInSeconds: maybe(number) }), lockedApps: number, unlockedApps: number,
    waitingLaunches: number, prompterConnected: flag, lockout: object({ failures: number, remainingSeconds: number }),
});

/** @type {Record<keyof RecordBodies, Check>} by collection; `replies` are the later revisions of `commands` */
const checks = {
    devices: object({ name: text, owner: maybe(isID), sheet: maybe(flag), spareOf: maybe(isID) }),
    status: object({
        name: text, clock: time, status, auditHead: maybe(text), lastEvent: maybe(isID), rosterNumber: number,
        rosterHead: maybe(text),
        hubProblems: list(text), vault: maybe(isID),
        integrity: maybe(list(object({
            id: text, title: text, state: oneOf("ok", "warning", "problem"), sentence: text,
        }))),
        alertDays: maybe(number),
    }),
    apps: object({
        clock: time,
        apps: list(object({
            id: text, name: text, state: text, opensUntil: maybe(time), schedule: maybe(text), categories: list(text),
        })),
        others: maybe(list(object({ id: text, name: text }))),
        categories: maybe(list(object({ name: text, schedule: maybe(text) }))),
    }),
    icons: object({
        icons: list(object({ app: text, type: oneOf("image/png", "image/svg+xml"), data: base64 })),
    }),
    events: object({
        kind: text, computer: isID, computerName: text, time, app: maybe(text), appName: maybe(text),
        reason: maybe(text), sentence: text, photo: maybe(isID), previous: maybe(isID),
    }),
    requests: object({
        computer: isID, computerName: text, prompt: text, app: text, appName: text, path: text, parentName: maybe(text),
        userName: maybe(text), clock: time, expires: time, defaultGrantSeconds: number, outcome: maybe(text),
    }),
    replies: object({
        computer: isID, clock: time, state: oneOf("received", "done", "refused"), reason: maybe(text), sentence: text,
        record: maybe(isID),
    }),
    notes: object({ title: text, body: text, created: seconds, modified: seconds }),
    intruders: object({ contentKey: text, time: maybe(seconds) }),
};

/**
 * Null if the value does not fit the collection.
 * @template {keyof RecordBodies} Kind
 * @param {Kind} kind
 * @param {Uint8Array} bytes of JSON
 * @returns {RecordBodies[Kind] | null}
 */
export function readBody(kind, bytes) {
    try {
        const value = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
        return checks[kind]?.(value) ? value : null;
    } catch {
        return null;
    }
}
