// Starts the companion in this page.
import { AutoLock } from "./core/autolock.js";
import { Companion } from "./core/companion.js";
import { resubscribeAtStart, seen } from "./core/notifications.js";
import { startOffline, updates } from "./core/offline.js";
import { followAudit } from "./screens/audit-alerts.js";
import { others, places } from "./screens/places.js";
import { coverWhenUnseen } from "./views/cover.js";
import { endPanic, followGuise, forgetGuise, guise, keepGuise, pageTitle } from "./views/disguise.js";
import { harmless } from "./views/disguise-door.js";
import { firstPIN, gate, lost, revoked, welcome } from "./views/door.js";
import { element } from "./views/element.js";
import { invitation, takeInvitation } from "./views/invitation.js";
import { PanicWatch } from "./views/panic.js";
import { Shell } from "./views/shell.js";
import { applyAppearance } from "./views/appearance.js";
import { tell } from "./views/toast.js";
import { sentenceOf } from "./views/words.js";

const root = /** @type {HTMLElement} */ (document.getElementById("app"));

/** The link that opened the page, once: the secret in it goes out of the address at once. */
function takeLink() {
    if (!location.hash.startsWith("#pair=")) return null;
    const link = location.href;
    history.replaceState(null, "", "/");
    return link;
}

async function start() {
    applyAppearance();
    coverWhenUnseen();
    let link = takeLink();
    takeInvitation();
    const companion = await Companion.open();
    new AutoLock(companion, document);
    startOffline();
    const shell = new Shell(companion, root, places, others);
    let shown = "";
    let door = new AbortController();
    // What was lost, or erased, has to be shown once its owner asks.
    let isAsked = false;
    const show = () => {
        const { state } = companion;
        const isHarmless = guise() !== "applocker" && (state === "locked" || (["lost", "revoked"].includes(state) && !link && !isAsked));
        const now = isHarmless ? `${state}, harmless` : state;
        if (now === shown && !link) return;
        if (state === "unlocked") endPanic();
        if (shown !== "" && state === "new") forgetGuise();
        shown = now;
        door.abort();
        door = new AbortController();
        for (const dialog of document.querySelectorAll("dialog")) dialog.remove();
        shell.close();
        if (state === "unlocked") {
            shell.open();
            if (invitation()) shell.go("settings/vaults?invited");
            return;
        }
        const pages = {
            new: () => welcome(companion, link, door.signal), gate: () => firstPIN(companion, door.signal),
            locked: () => gate(companion, door.signal), lost: () => lost(companion, link, door.signal),
            revoked: () => revoked(companion, link, door.signal),
        };
        const gateItself = () => {
            isAsked = true;
            endPanic();
            show();
        };
        const page = isHarmless ? harmless(companion, gateItself, door.signal) : pages[state]();
        document.title = pageTitle();
        root.replaceChildren(page);
        /** @type {HTMLElement | null} */ (page.querySelector("h1"))?.focus({ preventScroll: true });
    };
    companion.addEventListener("state", () => {
        if (companion.state === "gate") link = null;
        show();
    });
    window.addEventListener("hashchange", () => {
        if (takeInvitation()) answerInvitation();
        const again = takeLink();
        if (!again) return;
        link = ["new", "lost", "revoked"].includes(companion.state) ? again : null;
        if (link) show();
    });
    const answerInvitation = () => {
        if (companion.state === "unlocked") shell.go("settings/vaults?invited");
        else if (companion.state === "new" && guise() === "applocker") tell("This is an invitation to a shared vault. Pair this device with a computer first, then open it again.", { milliseconds: 20_000 });
    };
    if (invitation()) answerInvitation();
    for (const kind of ["online", "focus"]) window.addEventListener(kind, () => companion.wake());
    updates.addEventListener("failed", (event) => {
        if (!shown.endsWith("harmless")) tell(/** @type {CustomEvent<string>} */ (event).detail);
    });
    followGuise(show);
    new PanicWatch(companion);
    followNotifications(companion);
    followAudit(companion, tell);
    companion.vaults.addEventListener("removed", (event) => {
        const { vault, name } = /** @type {CustomEvent<import("./core/vaults.js").RemovedMember>} */ (event).detail;
        if (companion.state === "unlocked") tell(`${name} was removed from the shared vault “${vault}”: it does not belong to your household any more.`);
    });
    companion.addEventListener("state", () => keepGuise(companion));
    keepGuise(companion);
    show();
}

/**
 * What was notified is seen when the app is, and a tap on a notification goes where it says.
 * @param {Companion} companion
 */
function followNotifications(companion) {
    const look = () => {
        if (!document.hidden && companion.state === "unlocked") seen().catch(() => {});
    };
    companion.addEventListener("state", look);
    document.addEventListener("visibilitychange", look);
    navigator.serviceWorker?.addEventListener("message", ({ data }) => {
        if (data?.kind === "go" && typeof data.address === "string" && data.address.startsWith("/#/")) location.hash = data.address.slice(1);
    });
    resubscribeAtStart(companion).catch(() => {});
}

start().catch((error) => {
    root.replaceChildren(element("main", { class: "door" }, element("h1", { class: "door-title" }, `${pageTitle()} can’t start here`),
        element("p", {}, guise() === "applocker" ? sentenceOf(error) : "Try again."),
        element("button", { class: "button", type: "button", onclick: () => location.reload() }, "Try again")));
});
