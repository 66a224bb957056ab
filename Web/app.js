// Starts AppLocker in this page.
import { consumeEntryLink } from "./features/pairing/entry-link.js";
import { Companion } from "./session/companion.js";
import { AppSession } from "./shell/app-session.js";
import { followIdentity, storeIdentity } from "./ui/app-identity.js";
import { applyAppearance } from "./ui/appearance.js";
import { closeDialogsOnBack } from "./ui/modal.js";
import { coverWhenUnseen } from "./ui/privacy-cover.js";
import { showStartFailure } from "./shell/start-failure.js";
import { toast } from "./ui/toast.js";
import { startOffline, updates } from "./workers/registration.js";

const root = /** @type {HTMLElement} */ (document.getElementById("app"));

async function start() {
    applyAppearance();
    coverWhenUnseen();
    closeDialogsOnBack();
    const link = consumeEntryLink();
    // The worker keeps it for a short time, and the PIN takes a while.
    if (location.hash.includes("shared=")) import("./workers/shared-content.js").then(
        ({ fetchShared }) => fetchShared(location.hash), () => {});
    const companion = await Companion.open();
    const session = new AppSession(companion, root, link);
    for (const kind of ["online", "focus"]) window.addEventListener(kind, () => companion.wake());
    updates.addEventListener("failed", (event) => {
        if (!session.isDisguised) toast(/** @type {CustomEvent<string>} */ (event).detail);
    });
    followIdentity(() => session.show());
    companion.addEventListener("state", () => storeIdentity(companion));
    storeIdentity(companion);
    await session.show();
    startOffline();
}

// requirements.js shows why AppLocker can't run here.
if (!document.documentElement.hasAttribute("data-refused")) start().catch((error) => showStartFailure(root, error));
