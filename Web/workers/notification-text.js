// The text of a notification. The worker shows it while AppLocker is locked, so it contains no more than a lock screen
// may show.

/** @typedef {import("../formats/record-bodies.js").EventKind} EventKind */
/**
 * `launch`: a pending launch. `vault`: an entry that another device of the vault pushes. `changed`: the owner's changes
 * at a computer. The others are kinds of HouseholdEvent.
 * @typedef {"launch" | "blocked" | "failed" | "photographed" | "changed" | "vault"} NoticeKind
 */
/**
 * `quiet`: this kind is turned off. `address`: opened by a tap, after the "#". `about`: identifies notifications of the
 * same thing.
 * @typedef {{ kind: NoticeKind | "unknown" | "test", tag: string, title: string, body: string, address: string,
 *   answers: boolean, quiet: boolean, about: string }} Notice
 */

/**
 * `from`, `to`: "HH:MM" of this device. `launch`, `photographed`: these are loud nevertheless.
 * @typedef {{ isOn: boolean, from: string, to: string, launch: boolean, photographed: boolean }} QuietHours
 */

/** @type {readonly NoticeKind[]} */
export const noticeKinds = Object.freeze(["launch", "blocked", "failed", "photographed", "changed", "vault"]);
/** @type {QuietHours} before a person changes them */
export const usualQuietHours = Object.freeze({
    isOn: false, from: "22:00", to: "07:00", launch: true, photographed: true,
});
/** Names of facts in the store. */
export const factNames = Object.freeze({
    kinds: "noticeKinds", wanted: "wantsPush", test: "pushTest", identity: "guise", quietHours: "quietHours",
    lastShown: "lastNotice",
});

/** Of events. Several changes of one kind at a computer are one notification. */
const changeKinds = new Set(["apps", "rules", "backup", "recovery"]);
const longest = 80;

/** @param {string} text */
const short = (text) => ([...text].length > longest ? [...text].slice(0, longest - 1).join("") + "…" : text);

/**
 * Whether a notification of this kind makes no sound now.
 * @param {QuietHours} hours
 * @param {string} kind
 * @param {Date} now
 */
export function isSilentNow(hours, kind, now) {
    if (!hours.isOn || (kind === "launch" && hours.launch) || (kind === "photographed" && hours.photographed)) {
        return false;
    }
    const time = now.toTimeString().slice(0, 5);
    const { from, to } = hours;
    return from <= to ? from <= time && time < to : time >= from || time < to;
}

/** @type {Notice} for what does not open, or is unknown to this version */
export const unknownNotice = {
    kind: "unknown", tag: "unknown", title: "New event on one of your computers",
    body: "Open AppLocker to see it.",
    address: "/home", answers: false, quiet: false, about: "",
};

/** @type {Notice} */
export const testNotice = {
    kind: "test", tag: "test", title: "Notifications reach this device", body: "This is the test that you requested.",
    address: "/settings", answers: false, quiet: false, about: "",
};

/** By what the app looks like; without a name if that can't be read. */
const disguisedTitles = Object.freeze({ calculator: "Calculator", notes: "Notes", unknown: "New notification" });

/** @typedef {keyof typeof disguisedTitles} Disguise */

/**
 * What the app looks like, by the stored fact. A disguise of another version is one without a name of its own.
 * @param {unknown} fact
 * @returns {Disguise | "applocker"}
 */
export function identityOf(fact) {
    if (fact === "calculator" || fact === "notes") return fact;
    return typeof fact !== "string" || fact === "applocker" ? "applocker" : "unknown";
}

/**
 * The text while disguised: the same for everything, without actions.
 * @param {Notice} notice
 * @param {Disguise} identity
 * @returns {Notice}
 */
export const disguised = (notice, identity) =>
    ({ ...notice, title: disguisedTitles[identity], body: "Open the app to see it.", answers: false });

/**
 * @param {import("./open-push.js").OpenedPush} record
 * @param {(computer: string) => number} clock the computer's time now, milliseconds since 1970
 * @returns {Notice}
 */
export function noticeOf({ collection, id, body }, clock) {
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
 * @param {string} id
 * @param {import("../formats/record-bodies.js").LaunchRequest} launch
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
