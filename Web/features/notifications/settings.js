// Notifications of this device: on or off, which kinds, and a test.
import {
    lastShown, notificationState, offersAnswers, quietHours, reminderTime, renewSubscription, setQuietHours,
    setReminderTime, setWantedKinds, subscribe, testPush, unsubscribe, wantedKinds,
} from "./notifications.js";
import { setVaultNotices, vaultNotices } from "./vault-notices.js";
import { arrivalSignals, canVibrate, playSound, setArrivalSignals } from "./signals.js";
import { element } from "../../ui/element.js";
import { redrawing } from "../../ui/live.js";
import { banner, button, field, row, rows, section, switchRow, tile } from "../../ui/parts.js";
import { dayAndTime, sentenceOf } from "../../ui/words.js";

/** @typedef {import("../../workers/notification-text.js").NoticeKind} NoticeKind */
/** @typedef {import("../../workers/notification-text.js").QuietHours} QuietHours */

/** @type {Record<NoticeKind, [string, string]>} */
const kinds = {
    launch: ["An app is waiting", offersAnswers()
        ? "With Approve and Deny in the notification"
        : "Tap the notification to approve or deny"],
    blocked: ["An app was blocked", "Nobody answered, or it was denied"],
    failed: ["A wrong passcode", "At one of your computers"],
    photographed: ["A photo was taken", "After wrong passcodes"],
    changed: ["A change at a computer", "Locked apps, rules, backups, recovery sheet"],
    vault: ["Activity on another device", "Configured on that device, in “Activity”"],
    moment: ["A new moment", "By another member of a shared vault"],
    remark: ["A comment or reaction", "By another member of a shared vault"],
    date: ["Special dates", "On the day, without its name"],
    memory: ["On this day", "When there are moments of earlier years"],
};
const withoutComputer = ["vault", "moment", "remark", "date", "memory"];

/** @type {SettingsPage} */
export async function notifications({ companion, signal, toast }) {
    const body = element("div", { class: "settings-parts" });
    const read = async () => {
        const [state, wanted, hours, vaults, reminded] = [
            await notificationState(companion), await wantedKinds(companion), await quietHours(companion),
            companion.state === "unlocked" ? await vaultNotices(companion) : [], await reminderTime(companion),
        ];
        const signals = await arrivalSignals(companion);
        await showLast();
        return () => {
            if (waiting === 0) body.replaceChildren(...parts(state, wanted, hours, vaults, reminded), openApp(signals));
        };
    };
    const update = redrawing(read, signal);
    // One change after another, and drawn after the last one: no switch turns back while another change is waiting.
    let waiting = 0;
    let changes = Promise.resolve();
    /** @param {() => Promise<unknown>} change */
    const inTurn = (change) => (changes = changes.then(change).then(() => {}, (error) => {
        if (!signal.aborted) toast(sentenceOf(error));
    }));
    /** @param {() => Promise<unknown>} change */
    const changed = async (change) => {
        waiting += 1;
        await inTurn(change);
        waiting -= 1;
        if (waiting === 0) update();
    };
    const result = element("p", { class: "section-foot", role: "status" });
    const last = element("p", { class: "section-foot" });
    const showLast = async () => {
        const time = await lastShown(companion);
        last.textContent = time > 0
            ? `Last notification on this device: ${dayAndTime(time / 1000)}`
            : "No notification has arrived on this device yet.";
    };
    const test = async () => {
        result.textContent = "Sent; waiting for it to arrive…";
        const words = {
            arrived: "The notification arrived.",
            notYet: "The hub sent it, and it has not arrived yet. The push service may be slow.",
            noSubscription: "The hub has no address for this device. Turn notifications off and on again.",
        };
        result.textContent = await testPush(companion).then((came) => words[came], sentenceOf);
        await showLast();
    };
    /** @param {import("./signals.js").Signals} signals */
    const openApp = ({ sound, vibration }) => section("While AppLocker is open", [rows(
        switchRow({
            title: "Sound", checked: sound, change: (checked) => changed(async () => {
                await setArrivalSignals(companion, { sound: checked });
                if (checked) await playSound();
            }),
        }),
        canVibrate() && switchRow({
            title: "Vibration", checked: vibration,
            change: (checked) => changed(() => setArrivalSignals(companion, { vibration: checked })),
        }))], { foot: "For alerts and waiting apps that arrive while it is unlocked on this device." });
    /** @param {string} label @param {string} value @param {(value: string) => Promise<void>} set */
    const timeField = (label, value, set) => field(label, {
        type: "time", required: true, value, onchange: (/** @type {Event} */ event) => {
            const { value: typed } = /** @type {HTMLInputElement} */ (event.target);
            // Not drawn again: the person may be typing.
            if (typed) inTurn(() => set(typed));
        },
    });
    /** @param {string} time */
    const reminders = (time) => section("Reminders", [element("div", { class: "settings-times" },
        timeField("Time of day", time, (value) => setReminderTime(companion, value)))], {
        foot: "Special dates and “On this day” are shown at this time, also while this device is locked or another "
            + "PIN unlocked it, for 60 days after AppLocker was unlocked. The hub learns on which days, but not why.",
    });
    /** @param {QuietHours} hours */
    const quiet = (hours) => {
        /** @param {"from" | "to"} name @param {string} label */
        const time = (name, label) =>
            timeField(label, hours[name], (value) => setQuietHours(companion, { [name]: value }));
        /** @param {"launch" | "photographed"} name @param {string} title */
        const exception = (name, title) => switchRow({
            title, checked: hours[name],
            change: (checked) => changed(() => setQuietHours(companion, { [name]: checked })),
        });
        return section("Quiet hours", [
            rows(switchRow({
                title: "Quiet hours", checked: hours.isOn,
                change: (checked) => changed(() => setQuietHours(companion, { isOn: checked })),
            }), ...(hours.isOn && companion.hasComputer ? [
                exception("launch", "Sound for a waiting app"),
                exception("photographed", "Sound for an intruder photo")] : [])),
            hours.isOn && element("div", { class: "settings-times" }, time("from", "From"), time("to", "To")),
        ], { foot: "Notifications are shown without a sound in these hours." });
    };
    /**
     * @param {Awaited<ReturnType<typeof notificationState>>} state
     * @param {Record<NoticeKind, boolean>} wanted
     * @param {QuietHours} hours
     * @param {Awaited<ReturnType<typeof vaultNotices>>} vaults
     * @param {string} reminded
     */
    const parts = ({ permission, here, atHub }, wanted, hours, vaults, reminded) => {
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
            isOn && vaults.length > 0 && section("Shared vaults", [rows(...vaults.map(({ vault, isOn: checked }) =>
                switchRow({
                    title: vault.name, checked,
                    change: (wantsIt) => changed(async () => {
                        await setVaultNotices(companion, vault, wantsIt);
                        companion.reportNotifications(await renewSubscription(companion));
                    }),
                })))], {
                foot: "When another member adds a moment or responds to one. The notification names that member, also "
                    + "while this device is locked or another PIN unlocked it.",
            }),
            isOn && section("Kinds", [rows(...Object.entries(kinds)
                .filter(([kind]) => companion.hasComputer || withoutComputer.includes(kind))
                .map(([kind, [title, note]]) => switchRow({
                    title, note, checked: wanted[/** @type {NoticeKind} */ (kind)],
                    change: (checked) => changed(() => setWantedKinds(companion, { [kind]: checked })),
                })))]),
            isOn && (wanted.date || wanted.memory) && reminders(reminded),
            isOn && quiet(hours),
            isOn && section("Test",
                [rows(row({ start: tile("bell"), title: "Send a test notification", onclick: test })), last, result]),
            !isOn && permission === "default" && button("Allow notifications",
                () => changed(() => subscribe(companion)), { kind: "primary", wide: true, icon: "bell" }),
        ].flatMap((part) => part || []);
    };
    (await read())();
    return { title: "Notifications", body: [body] };
}
