// What is set, for the right side of the settings' rows. A decoy PIN has none: a list must not reveal one.
import { autoLockWords } from "../features/lock-screen/settings-auto-lock.js";
import { permission } from "../features/notifications/notifications.js";
import { panicWays } from "../features/panic/panic-watch.js";
import { appIdentity } from "../ui/app-identity.js";
import { appearance } from "../ui/appearance.js";
import { counted } from "../ui/words.js";
import { appVersion } from "../workers/registration.js";

/** @type {Record<string, (companion: Companion) => string | Promise<string>>} by the page's name */
export const settingsValues = {
    autolock: autoLockWords,
    panic: () => {
        const { key, ...gestures } = panicWays();
        return key || Object.values(gestures).some(Boolean) ? "On" : "Off";
    },
    disguise: () => (appIdentity() === "applocker" ? "Off" : "On"),
    notifications: async () => {
        const registration = await navigator.serviceWorker?.getRegistration("/");
        const isOn = permission() === "granted" && await registration?.pushManager?.getSubscription();
        return isOn ? "On" : "Off";
    },
    devices: async ({ household }) =>
        counted((await household.members()).filter(({ isSheet }) => !isSheet).length, "device"),
    vaults: async ({ vaults }) => {
        const { length } = [...await vaults.list(), ...await vaults.locked()];
        return length ? String(length) : "";
    },
    appearance: () => ({ system: "System", light: "Light", dark: "Dark" })[appearance()],
    about: async () => (await appVersion())?.version ?? "",
};
