// The text of a notification. The worker shows it while AppLocker is locked, so it contains no more than a lock screen
// may show.

/** @typedef {import("../../formats/record-bodies.js").EventKind} EventKind */
/** @typedef {import("../notification-text.js").Notice} Notice */
/** @typedef {import("../notification-text.js").NoticeKind} NoticeKind */

/** Of events. Several changes of one kind at a computer are one notification. */
const changeKinds = new Set(["apps", "rules", "backup", "recovery"]);
const longest = 80;

/** @param {string} text */
const short = (text) => ([...text].length > longest ? [...text].slice(0, longest - 1).join("") + "…" : text);

/** @type {Notice} */
export const testNotice = {
    kind: "test", tag: "test", title: "Notifications reach this device", body: "This is the test that you requested.",
    address: "/settings", answers: false, quiet: false, about: "",
};

/**
 * @param {import("../open-push.js").OpenedPush} opened
 * @param {(computer: string) => number} clock the computer's time now, milliseconds since 1970
 * @returns {Notice}
 */
export function noticeOf(opened, clock) {
    if ("vault" in opened) return memberNotice(opened);
    if ("reminder" in opened) return reminderNotice(opened.reminder);
    const { collection, id, body } = opened;
    if (collection === "audit") return vaultNotice(id, body.name);
    const about = `${body.computer}/${body.app ?? ""}`;
    const [app, computer] = [short(body.appName ?? "An app"), short(body.computerName)];
    if (collection === "requests") {
        return launchNotice(id, body, body.expires > clock(body.computer), about, app, computer);
    }
    const { kind } = body;
    const isChange = changeKinds.has(kind);
    /** @type {Partial<Record<EventKind, string>>} */
    const titles = {
        blocked: `${app} was blocked on ${computer}`, failed: `Wrong passcode on ${computer}`,
        photographed: `${computer} took a photo`,
        apps: `Locked apps were changed on ${computer}`, rules: `Rules were changed on ${computer}`,
        backup: `A backup was made or imported on ${computer}`,
        recovery: `A recovery sheet was printed or used on ${computer}`,
    };
    const isKnown = Object.hasOwn(titles, kind);
    return {
        kind: isChange ? "changed" : isKnown ? /** @type {NoticeKind} */ (kind) : "unknown",
        tag: isChange ? `${kind}-${body.computer}` : `event-${id}`,
        title: (isKnown && titles[kind]) || `New event on ${computer}`, body: body.sentence, address: "/alerts",
        answers: false, quiet: false, about,
    };
}

/**
 * A lock screen shows only that something was done with a vault, not what.
 * @param {string} device
 * @param {string} [name]
 * @returns {Notice}
 */
const vaultNotice = (device, name) => ({
    kind: "vault", tag: `vault-${device}`, title: `New entry from ${short(name ?? "one of your devices")}`,
    body: "Open AppLocker to see it.",
    address: "/settings/audit", answers: false, quiet: false, about: "",
});

/**
 * What another member did in a shared vault; its content can't be opened while locked.
 * @param {Extract<import("../open-push.js").OpenedPush, { vault: string }>} opened
 * @returns {Notice}
 */
function memberNotice({ collection, vault, name, isQuiet }) {
    const member = short(name ?? "A member of a shared vault");
    return {
        kind: collection === "moments" ? "moment" : "remark", tag: `${collection}-${vault}`,
        title: `${member} ${collection === "moments" ? "added a moment" : "responded to a moment"}`,
        body: "Open AppLocker to see it.", address: `/moments?vault=${vault}`, answers: false, quiet: isQuiet,
        about: "",
    };
}

/**
 * A lock screen shows neither names nor words. One notification, also for the reminders of several PINs.
 * @param {import("../../formats/reminder.js").Reminder} reminder
 * @returns {Notice}
 */
export function reminderNotice(reminder) {
    const { dates, memories } = reminder;
    const remembered = "On this day: moments of earlier years";
    const [title, body] = dates === 0 ? [remembered, "Open AppLocker to see them."]
        : [dates === 1 ? "A special date today" : `${dates} special dates today`,
            memories ? `${remembered}.` : "Open AppLocker to see it."];
    return {
        kind: dates === 0 ? "memory" : "date", tag: "reminder", title, body, address: "/moments", answers: false,
        quiet: false, about: "", reminder,
    };
}

/**
 * @param {string} id
 * @param {import("../../formats/record-bodies.js").LaunchRequest} launch
 * @param {boolean} isInTime
 * @param {string} about
 * @param {string} app
 * @param {string} computer
 * @returns {Notice}
 */
function launchNotice(id, launch, isInTime, about, app, computer) {
    const waits = !launch.outcome && isInTime;
    const ends = {
        allowed: "was approved", denied: "was denied", timed_out: "timed out", gone: "is no longer waiting",
    };
    const who = launch.userName ? ` Started by ${short(launch.userName)}.` : "";
    return {
        kind: "launch", tag: `launch-${id}`, address: `/launch/${id}`, answers: waits,
        quiet: Boolean(launch.outcome), about,
        title: waits
            ? `${app} is waiting on ${computer}`
            : `${app} ${ends[launch.outcome ?? "timed_out"] ?? "is no longer waiting"} on ${computer}`,
        body: waits ? `Approve it?${who}` : "No action is needed.",
    };
}
