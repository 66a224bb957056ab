// Starts AppLocker in this page.
import { followAudit } from "./features/activity/audit-toasts.js";
import { AutoLock } from "./features/lock-screen/auto-lock.js";
import { PanicWatch } from "./features/panic/panic-watch.js";
import { readInvitation } from "./features/vaults/invitation.js";
import { Companion } from "./session/companion.js";
import { AppSession } from "./shell/app-session.js";
import { Frame } from "./shell/frame.js";
import { followNotifications } from "./shell/notifications.js";
import { consumePairingLink } from "./shell/pairing-link.js";
import { routes, untabbedRoutes } from "./shell/routes.js";
import { appIdentity, followIdentity, pageTitle, storeIdentity } from "./ui/app-identity.js";
import { applyAppearance } from "./ui/appearance.js";
import { element } from "./ui/element.js";
import { coverWhenUnseen } from "./ui/privacy-cover.js";
import { toast } from "./ui/toast.js";
import { sentenceOf } from "./ui/words.js";
import { startOffline, updates } from "./workers/registration.js";

const root = /** @type {HTMLElement} */ (document.getElementById("app"));

async function start() {
    applyAppearance();
    coverWhenUnseen();
    const link = consumePairingLink();
    readInvitation();
    const companion = await Companion.open();
    new AutoLock(companion, document);
    startOffline();
    const session = new AppSession(companion, new Frame(companion, root, routes, untabbedRoutes), root, link);
    for (const kind of ["online", "focus"]) window.addEventListener(kind, () => companion.wake());
    updates.addEventListener("failed", (event) => {
        if (!session.isDisguised) toast(/** @type {CustomEvent<string>} */ (event).detail);
    });
    followIdentity(() => session.show());
    new PanicWatch(companion);
    followNotifications(companion);
    followAudit(companion, toast);
    companion.vaults.addEventListener("removed", (event) => {
        const { vault,
            name } = /** @type {CustomEvent<import("./features/vaults/vaults.js").RemovedMember>} */ (event).detail;
        if (companion.state === "unlocked") {
            toast(`${name} was removed from the shared vault “${vault}”: it is no longer in your household.`);
        }
    });
    companion.addEventListener("state", () => storeIdentity(companion));
    storeIdentity(companion);
    session.show();
}

start().catch((error) => {
    root.replaceChildren(element("main", { class: "entry-page" },
        element("h1", { class: "entry-page-title" }, `${pageTitle()} can’t start here`),
        element("p", {}, appIdentity() === "applocker" ? sentenceOf(error) : "Try again."),
        element("button", { class: "button", type: "button", onclick: () => location.reload() }, "Try again")));
});
