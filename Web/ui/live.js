// Updates a part of the screen with the records.

/** A button that is held longer than this is replaced under the finger. */
const longestPress = 2000;

/** Of a finger the click is an event of its own, shortly after its end. In milliseconds. */
const clickWithin = 400;
/** A finger that moved farther, in CSS pixels, causes no click. */
const farthestTap = 20;

/** What Space presses, when the key is released. */
const pressedBySpace = "button, summary, [type=checkbox], [type=radio], [type=file]";

/** Ends when no mouse button, no finger and no Space on a button is down. */
let released = Promise.resolve();
let release = () => {};
let [startX, startY] = [0, 0];
/** @type {(() => void)[]} of each press that ended */
const ended = [];
/** Its message arrives after the click's own task. */
const afterClick = new MessageChannel();
afterClick.port2.onmessage = () => ended.shift()?.();
const releaseSoon = () => {
    ended.push(release);
    afterClick.port1.postMessage(null);
};
const press = () => {
    release();
    released = new Promise((resolve) => {
        release = resolve;
        setTimeout(resolve, longestPress);
    });
};
window.addEventListener("pointerdown", ({ clientX, clientY }) => {
    [startX, startY] = [clientX, clientY];
    press();
}, { capture: true });
window.addEventListener("keydown", ({ key, repeat, target }) => {
    if (key === " " && !repeat && target instanceof Element && target.matches(pressedBySpace)) press();
}, { capture: true });
window.addEventListener("keyup", ({ key }) => key === " " && releaseSoon(), { capture: true });
window.addEventListener("pointerup", ({ pointerType, clientX, clientY }) => {
    // Of a mouse the click follows in the same task.
    if (pointerType === "mouse" || Math.hypot(clientX - startX, clientY - startY) > farthestTap) releaseSoon();
    else setTimeout(release, clickWithin);
}, { capture: true });
for (const end of ["click", "pointercancel"]) window.addEventListener(end, releaseSoon, { capture: true });

/** Ends once nothing is pressed. */
async function untilReleased() {
    for (let seen; seen !== released;) await (seen = released);
}

/**
 * Reads, and returns what draws, at once; null if there is nothing to draw. `void | undefined`: no promise.
 * @typedef {() => Promise<(() => void | undefined) | null>} Read
 */

/**
 * The function that reads and draws, one call at a time, at most once a frame, and draws while nothing is pressed: a
 * press on what moves or is replaced before the release does nothing. `read` throws if AppLocker is locked meanwhile,
 * which is ignored: the screen is removed then too.
 * @param {Read} read
 * @param {AbortSignal} signal
 * @returns {() => Promise<void>} ends when what is read after the call is drawn
 */
export function redrawing(read, signal) {
    /** @type {Promise<void> | null} of the calls for which nothing is read yet */
    let next = null;
    let frame = Promise.resolve();
    const show = async () => {
        // What a press changes is read too.
        await untilReleased();
        next = null;
        if (signal.aborted) return;
        try {
            const draw = await read();
            await untilReleased();
            if (!signal.aborted) draw?.();
        } catch (error) {
            if (!signal.aborted) console.error(error);
        }
    };
    return () => {
        if (next) return next;
        const shown = (next = frame.then(show));
        // A hidden page has no frames.
        frame = shown.then(() => new Promise((resolve) =>
            (document.hidden ? setTimeout(resolve, 100) : requestAnimationFrame(() => resolve()))));
        return shown;
    };
}

/**
 * Shows now and after each change of these collections, as `redrawing`.
 * @param {Companion} companion
 * @param {string[]} collections
 * @param {Read} read
 * @param {AbortSignal} signal
 * @param {[EventTarget, string][]} events after which it shows too
 */
export async function live(companion, collections, read, signal, events = []) {
    const update = redrawing(read, signal);
    whenChanged(companion, collections, update, signal);
    for (const [target, kind] of events) target.addEventListener(kind, update, { signal });
    await update();
    return update;
}

/**
 * Calls `update` after each change of these collections.
 * @param {Companion} companion
 * @param {string[]} collections
 * @param {() => unknown} update
 * @param {AbortSignal} signal
 */
export function whenChanged(companion, collections, update, signal) {
    companion.addEventListener("changed", (event) => {
        const keys = /** @type {CustomEvent<string[]>} */ (event).detail;
        if (keys.some((key) => collections.includes(key.split("/")[0]))) update();
    }, { signal });
}

/** @param {() => void} tick @param {AbortSignal} signal */
export function everySecond(tick, signal) {
    const timer = setInterval(() => {
        if (!document.hidden) tick();
    }, 1000);
    signal.addEventListener("abort", () => clearInterval(timer), { once: true });
}
