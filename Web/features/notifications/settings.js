// Notifications of this device: on or off, which kinds, and a test.
import { notificationState, setWantedKinds, subscribe, testPush, unsubscribe, wantedKinds } from "./notifications.js";
import { element } from "../../ui/element.js";
import { banner, button, row, rows, section, switchRow, tile } from "../../ui/parts.js";
import { sentenceOf } from "../../ui/words.js";

/** @typedef {import("../../workers/notification-text.js").NoticeKind} NoticeKind */

/** @type {Record<NoticeKind, [string, string]>} */
const kinds = {
    launch: ["An app is waiting", "With Approve and Deny in the notification"],
    blocked: ["An app was blocked", "Nobody answered, or it was denied"],
    failed: ["A wrong passcode", "At one of your computers"],
    photographed: ["A photo was taken", "After wrong passcodes"],
    changed: ["A change at a computer", "Locked apps, rules, backups, recovery sheet"],
    vault: ["Activity on another device", "Configured on that device, in “Activity”"],
};

/** @type {SettingsPage} */
export async function notifications({ companion, signal, toast }) {
    const body = element("div", { class: "settings-parts" });
    const draw = async () => {
        const [state, wanted] = [await notificationState(companion), await wantedKinds(companion)];
        if (!signal.aborted) body.replaceChildren(...parts(state, wanted));
    };
    /** @param {() => Promise<unknown>} change */
    const changed = async (change) => {
        try {
            await change();
        } catch (error) {
            if (!signal.aborted) toast(sentenceOf(error));
        }
        if (!signal.aborted) await draw();
    };
    const result = element("p", { class: "section-foot", role: "status" });
    const test = async () => {
        result.textContent = "Sent; waiting for it to arrive…";
        const words = {
            arrived: "The notification arrived.",
            notYet: "The hub sent it, and it has not arrived yet. The push service may be slow.",
            noSubscription: "The hub has no address for this device. Turn notifications off and on again.",
        };
        result.textContent = await testPush(companion).then((came) => words[came], sentenceOf);
    };
    /** @param {Awaited<ReturnType<typeof notificationState>>} state @param {Record<NoticeKind, boolean>} wanted */
    const parts = ({ permission, here, atHub }, wanted) => {
        const isOn = permission === "granted" && here && atHub !== false;
        if (permission === "install") {
            return [banner("phone", "",
                element("p", {},
                    "Put AppLocker on the Home Screen first: Share, then “Add to Home "
                        + "Screen”. Open it from there and return here."))];
        }
        if (permission === "unsupported") {
            return [banner("bell", "",
                element("p", {},
                    "This browser does not support notifications of web apps. Alerts are still shown while the app "
                        + "is open."))];
        }
        return [
            permission === "denied" && banner("warning", "warning",
                element("p", {},
                    "Notifications are turned off for AppLocker in this device’s settings. Allow them there first.")),
            permission === "granted" && here && atHub === false
                && banner("warning", "warning",
                    element("p", {}, "The hub has no address for this device. Turn notifications off and on again.")),
            section("On this device", [rows(switchRow({
                title: "Notifications", note: isOn ? "On" : "Off", checked: isOn,
                change: (checked) => changed(() => (checked ? subscribe(companion) : unsubscribe(companion))),
            }))], {
                foot: "They are end-to-end encrypted: neither the hub nor the push service can read them. This device "
                    + "shows them also while AppLocker is locked.",
            }),
            isOn && section("Kinds", [rows(...Object.entries(kinds).map(([kind, [title, note]]) => switchRow({
                title, note, checked: wanted[/** @type {NoticeKind} */ (kind)],
                change: (checked) => changed(() => setWantedKinds(companion, { [kind]: checked })),
            })))]),
            isOn && section("Test",
                [rows(row({ start: tile("bell"), title: "Send a test notification", onclick: test })), result]),
            !isOn && permission === "default" && button("Allow notifications",
                () => changed(() => subscribe(companion)), { kind: "primary", wide: true, icon: "bell" }),
        ].flatMap((part) => part || []);
    };
    await draw();
    return { title: "Notifications", body: [body] };
}
