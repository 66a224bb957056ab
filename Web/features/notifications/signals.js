// Sound and vibration for what arrives while AppLocker is open and unlocked, if the person chose them.
import { isSilentNow } from "../../workers/notification-text.js";
import { quietHours } from "./notifications.js";

/** @typedef {{ sound: boolean, vibration: boolean }} Signals */

const fact = "arrivalSignals";
/** A launch arrives as a request and as an event, in milliseconds. */
const together = 2000;

/** @param {Companion} companion @returns {Promise<Signals>} */
export const arrivalSignals = ({ settings }) => settings.get(fact, { sound: false, vibration: false });

/** @param {Companion} companion @param {Partial<Signals>} change */
export async function setArrivalSignals(companion, change) {
    await companion.settings.set(fact, { ...(await arrivalSignals(companion)), ...change });
}

/** iPhones don't vibrate for web apps. */
export const canVibrate = () => typeof navigator.vibrate === "function";

/** Two short tones. */
export async function playSound() {
    const audio = new AudioContext();
    const gain = new GainNode(audio, { gain: 0.15 });
    gain.connect(audio.destination);
    for (const [start, frequency] of [[0, 660], [0.16, 880]]) {
        const tone = new OscillatorNode(audio, { frequency });
        tone.connect(gain);
        tone.start(audio.currentTime + start);
        tone.stop(audio.currentTime + start + 0.12);
        if (start > 0) tone.onended = () => audio.close();
    }
    await audio.resume();
}

/**
 * The kind of what arrived: a waiting launch, or an alert that is newer than `after`.
 * @param {Companion} companion
 * @param {string[]} keys of changed records
 * @param {number} after a sequence number
 * @returns {Promise<{ kind: string | null, newest: number }>}
 */
async function arrived({ household }, keys, after) {
    const isWaiting = (await household.launches()).some(({ id }) => keys.includes(`requests/${id}`));
    const alerts = (await household.alertsOf(keys.filter((key) => key.startsWith("events/"))))
        .filter(({ sequence }) => sequence > after);
    const newest = Math.max(after, ...alerts.map(({ sequence }) => sequence));
    return { kind: isWaiting ? "launch" : alerts[0]?.kind ?? null, newest };
}

/** @param {Companion} companion */
export function followArrivals(companion) {
    let [newest, last] = [-1, 0];
    /** @param {string[]} keys */
    const look = async (keys) => {
        if (companion.state !== "unlocked" || companion.syncLoop.connection !== "live") return;
        const { sound, vibration } = await arrivalSignals(companion);
        if ((!sound && !vibration) || document.hidden) return;
        const found = await arrived(companion, keys, newest);
        newest = found.newest;
        const hours = await quietHours(companion);
        if (!found.kind || Date.now() - last < together || isSilentNow(hours, found.kind, new Date())) return;
        last = Date.now();
        if (vibration && canVibrate()) navigator.vibrate([120, 80, 120]);
        if (sound) await playSound();
    };
    // Fails only because AppLocker is locked meanwhile.
    companion.addEventListener("changed", (event) => {
        look(/** @type {CustomEvent<string[]>} */ (event).detail).catch(() => {});
    });
}
