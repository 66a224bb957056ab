// What a push message is in plain words. The worker shows it while AppLocker is locked, so it says no more than a lock screen may.

/**
 * `launch`: a launch that waits. `vault`: what another device of the vault wants said. The others as the kinds of HouseholdEvent.
 * @typedef {"launch" | "blocked" | "failed" | "photographed" | "vault"} NoticeKind
 */
/**
 * `quiet`: nobody asked for this kind. `address`: where a tap leads, after the "#". `about`: what may be told twice.
 * @typedef {{ kind: NoticeKind | "unknown" | "test", tag: string, title: string, body: string, address: string,
 *   answers: boolean, quiet: boolean, about: string }} Notice
 */

/** @type {readonly NoticeKind[]} */
export const noticeKinds = Object.freeze(["launch", "blocked", "failed", "photographed", "vault"]);
/** Facts of the store. */
export const factNames = Object.freeze({ kinds: "noticeKinds", wanted: "wantsPush", test: "pushTest", guise: "guise" });

const longest = 80;

/** @param {string} text */
const short = (text) => ([...text].length > longest ? [...text].slice(0, longest - 1).join("") + "…" : text);

/**
 * For what does not open, or is nothing that this version knows.
 * @type {Notice}
 */
export const unknownNotice = {
    kind: "unknown", tag: "unknown", title: "Something happened on a computer of yours", body: "Open AppLocker to see it.",
    address: "/home", answers: false, quiet: false, about: "",
};

/** @type {Notice} */
export const testNotice = {
    kind: "test", tag: "test", title: "Notifications reach this device", body: "You asked for this test.",
    address: "/settings", answers: false, quiet: false, about: "",
};

/**
 * What a notification says while the app looks like another: the same for everything, and nothing to answer.
 * @param {Notice} notice
 * @param {"calculator" | "unknown"} guise
 * @returns {Notice}
 */
export const disguised = (notice, guise) =>
    ({ ...notice, title: guise === "calculator" ? "Calculator" : "Something new", body: "Open it to see more.", answers: false });

/**
 * @param {{ collection: string, id: string, body: any }} record of `openPush`
 * @param {(computer: string) => number} clock the computer's time now, milliseconds since 1970
 * @returns {Notice}
 */
export function noticeOf({ collection, id, body }, clock) {
    if (collection === "audit") return vaultNotice(id, body.name);
    const about = `${body.computer}/${body.app ?? ""}`;
    const [app, computer] = [short(body.appName ?? "An app"), short(body.computerName)];
    if (collection === "requests") return launchNotice(id, body, body.expires > clock(body.computer), about, app, computer);
    const titles = /** @type {Record<string, string>} */ ({
        blocked: `${app} was blocked on ${computer}`, failed: `A wrong passcode on ${computer}`,
        photographed: `${computer} took a photo`,
    });
    return {
        kind: Object.hasOwn(titles, body.kind) ? body.kind : "unknown", tag: `event-${id}`,
        title: titles[body.kind] ?? `News from ${computer}`, body: body.sentence, address: "/alerts", answers: false,
        quiet: false, about,
    };
}

/**
 * A lock screen does not say what was done with a vault: only that something was.
 * @param {string} device
 * @param {string} [name]
 * @returns {Notice}
 */
const vaultNotice = (device, name) => ({
    kind: "vault", tag: `vault-${device}`, title: `News from ${short(name ?? "a device of yours")}`, body: "Open AppLocker to see it.",
    address: "/settings/audit", answers: false, quiet: false, about: "",
});

/**
 * @param {string} id
 * @param {import("./bodies.js").LaunchRequest} launch
 * @param {boolean} isInTime
 * @param {string} about
 * @param {string} app
 * @param {string} computer
 * @returns {Notice}
 */
function launchNotice(id, launch, isInTime, about, app, computer) {
    const waits = !launch.outcome && isInTime;
    const ends = { allowed: "was opened", denied: "stays closed", timed_out: "waited too long", gone: "waits no more" };
    const who = launch.userName ? ` Started by ${short(launch.userName)}.` : "";
    return {
        kind: "launch", tag: `launch-${id}`, address: `/launch/${id}`, answers: waits, quiet: Boolean(launch.outcome), about,
        title: waits ? `${app} is waiting on ${computer}` : `${app} ${ends[launch.outcome ?? "timed_out"] ?? "waits no more"} on ${computer}`,
        body: waits ? `Let it open?${who}` : "Nothing is left to answer.",
    };
}
