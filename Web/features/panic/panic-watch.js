// Locks at once and shows the calculator: by a key or a gesture.
import { FaceDown, FingerTaps, Gravity, PanicKey, Shake } from "./gestures.js";
import { followPageSettings, pageSetting, setPageSetting } from "../../store/page-settings.js";
import { beginPanic, chosenIdentity } from "../../ui/app-identity.js";

/**
 * `key`: "escape", "off" or a chord as `chordOf` has it.
 * @typedef {{ key: string, shake: boolean, faceDown: boolean, fingers: boolean }} PanicWays
 */

const changedEvent = "applocker-panic-ways";
/** Movement of a finger while it taps, in pixels. */
const wandering = 24;

/** @returns {PanicWays} */
export function panicWays() {
    /** @type {Partial<PanicWays>} */
    let kept = {};
    try {
        kept = JSON.parse(pageSetting("panicWays") ?? "{}") ?? {};
    } catch {
        // As if nothing was chosen.
    }
    return {
        key: typeof kept.key === "string" ? kept.key : "escape",
        shake: kept.shake === true, faceDown: kept.faceDown === true, fingers: kept.fingers === true,
    };
}

/** @param {Partial<PanicWays>} change */
export function setPanicWays(change) {
    setPageSetting("panicWays", JSON.stringify({ ...panicWays(), ...change }));
    window.dispatchEvent(new Event(changedEvent));
}

/** @typedef {{ requestPermission?: () => Promise<"granted" | "denied"> }} Asked */

/**
 * An iPhone asks the person, only after a touch; other browsers don't ask.
 * @returns {Promise<boolean>}
 */
export async function mayFeelMotion() {
    if (typeof DeviceMotionEvent === "undefined" || typeof DeviceOrientationEvent === "undefined") return false;
    try {
        for (const kind of /** @type {Asked[]} */ (/** @type {unknown} */ ([DeviceMotionEvent,
            DeviceOrientationEvent]))) {
            if (kind.requestPermission && (await kind.requestPermission()) !== "granted") return false;
        }
        return true;
    } catch {
        return false;
    }
}

const mustAsk = () => "requestPermission" in (globalThis.DeviceMotionEvent ?? {});

/**
 * Locks every tab and disguises the page: pages redraw at "state".
 * @param {Companion} companion
 */
export function panic(companion) {
    try {
        // Before locking, so that no lock screen is drawn in between.
        if (chosenIdentity() === "applocker") beginPanic();
        // The address is cleared as well.
        history.replaceState(null, "", "/");
    } finally {
        companion.lock();
    }
    navigator.serviceWorker?.getRegistration("/").then(async (registration) => {
        for (const notification of (await registration?.getNotifications()) ?? []) notification.close();
    }).catch(() => {});
}

export class PanicWatch {
    #companion;
    #listening = new AbortController();
    #listensTo = "";
    /** What was pressed stays in it while AppLocker's state changes. */
    #keyWatch = { key: "", watch: new PanicKey("") };

    /** @param {Companion} companion */
    constructor(companion) {
        this.#companion = companion;
        window.addEventListener(changedEvent, () => this.#listen());
        followPageSettings(["panicWays"], () => this.#listen());
        companion.addEventListener("state", () => this.#listen());
        this.#listen();
    }

    #panic() {
        const { state } = this.#companion;
        if (state === "unlocked" || state === "locked") panic(this.#companion);
    }

    #listen() {
        const { state } = this.#companion;
        const { key, shake, faceDown, fingers } = panicWays();
        // Gestures that have begun continue while only other settings change.
        const wanted = JSON.stringify([state, key, shake, faceDown, fingers]);
        if (wanted === this.#listensTo) return;
        this.#listensTo = wanted;
        this.#listening.abort();
        this.#listening = new AbortController();
        const { signal } = this.#listening;
        if (state !== "unlocked" && state !== "locked") return;
        if (key !== this.#keyWatch.key) this.#keyWatch = { key, watch: new PanicKey(key) };
        const { watch } = this.#keyWatch;
        window.addEventListener("keydown", (event) => {
            const pressed = {
                time: event.timeStamp, key: event.key, code: event.code, ctrl: event.ctrlKey, alt: event.altKey,
                shift: event.shiftKey,
                meta: event.metaKey, repeat: event.repeat,
            };
            if (!watch.pressed(pressed)) return;
            event.preventDefault();
            event.stopImmediatePropagation();
            this.#panic();
        }, { signal, capture: true });
        // Only while unlocked: sensors cost power, and a locked app has nothing to hide.
        if (state !== "unlocked") return;
        if (fingers) this.#watchFingers(signal);
        if (shake || faceDown) this.#watchMotion(shake, faceDown, signal);
    }

    /** @param {AbortSignal} signal */
    #watchFingers(signal) {
        const watch = new FingerTaps();
        /** @type {Map<number, { x: number, y: number }>} */
        const began = new Map();
        const options = { signal, capture: true, passive: true };
        /** @param {TouchEvent} event @param {boolean} slid */
        const touched = (event, slid) => {
            if (watch.touched({ time: event.timeStamp, fingers: event.touches.length, slid })) this.#panic();
        };
        window.addEventListener("touchstart", (event) => {
            for (const { identifier, clientX, clientY } of event.changedTouches) {
                began.set(identifier, { x: clientX, y: clientY });
            }
            touched(event, false);
        }, options);
        window.addEventListener("touchmove", (event) => {
            const slid = [...event.changedTouches].some(({ identifier, clientX, clientY }) => {
                const start = began.get(identifier);
                return start && Math.hypot(clientX - start.x, clientY - start.y) > wandering;
            });
            if (slid) touched(event, true);
        }, options);
        window.addEventListener("touchend", (event) => {
            for (const { identifier } of event.changedTouches) began.delete(identifier);
            touched(event, false);
        }, options);
        window.addEventListener("touchcancel", () => {
            began.clear();
            watch.cancelled();
        }, options);
    }

    /** @param {boolean} shakes @param {boolean} faces @param {AbortSignal} signal */
    #watchMotion(shakes, faces, signal) {
        // An iPhone forgets the permission at each start, and asks only at a touch.
        if (mustAsk()) {
            window.addEventListener("click", () => void mayFeelMotion(), { signal, once: true, capture: true });
        }
        const [shake, faceDown, gravity] = [new Shake(), new FaceDown(), new Gravity()];
        window.addEventListener("devicemotion", (event) => {
            const [plain, heavy] = [event.acceleration, event.accelerationIncludingGravity];
            const of = (/** @type {DeviceMotionEventAcceleration | null} */ part) =>
                (part && part.x !== null && part.y !== null && part.z !== null ? {
                    time: event.timeStamp, x: part.x, y: part.y, z: part.z,
                } : null);
            const raw = of(heavy);
            const motion = of(plain) ?? (raw && gravity.without(raw));
            if (!motion) return;
            const isShaken = shakes && shake.moved(motion);
            if ((faces && faceDown.moved(raw ?? motion)) || isShaken) this.#panic();
        }, { signal });
        if (!faces) return;
        window.addEventListener("deviceorientation", ({ timeStamp, beta, gamma }) => {
            if (beta !== null && gamma !== null && faceDown.turned({ time: timeStamp, beta, gamma })) this.#panic();
        }, { signal });
    }
}
