// Updates a part of the screen with the records.

/** A button that is held longer than this is replaced under the finger. */
const longestPress = 2000;

/** Of a finger the click is an event of its own, shortly after its end. In milliseconds. */
const clickWithin = 400;
/** A finger that moved farther, in CSS pixels, causes no click. */
const farthestTap = 20;

/** Ends when no mouse button and no finger is down. */
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
window.addEventListener("pointerdown", ({ clientX, clientY }) => {
    release();
    [startX, startY] = [clientX, clientY];
    released = new Promise((resolve) => {
        release = resolve;
        setTimeout(resolve, longestPress);
    });
}, { capture: true });
window.addEventListener("pointerup", ({ pointerType, clientX, clientY }) => {
    // Of a mouse the click follows in the same task.
    if (pointerType === "mouse" || Math.hypot(clientX - startX, clientY - startY) > farthestTap) releaseSoon();
    else setTimeout(release, clickWithin);
}, { capture: true });
for (const end of ["click", "pointercancel"]) window.addEventListener(end, releaseSoon, { capture: true });

/**
 * Ends once nothing is pressed: a press on what moves or is replaced before the release does nothing. What reads before
 * it draws calls this in between.
 */
export async function untilReleased() {
    for (let seen; seen !== released;) await (seen = released);
}

/**
 * The function that calls `show`, one call at a time, at most once a frame, and not while something is pressed. `show`
 * throws if AppLocker is locked meanwhile, which is ignored: the screen is removed then too.
 * @param {() => Promise<void>} show
 * @param {AbortSignal} signal
 * @returns {() => Promise<void>} ends when everything is shown
 */
export function redrawing(show, signal) {
    let [isShowing, isStale] = [false, false];
    return async () => {
        isStale = true;
        if (isShowing) return;
        isShowing = true;
        while (isStale && !signal.aborted) {
            await untilReleased();
            if (signal.aborted) break;
            isStale = false;
            await show().catch((error) => {
                if (!signal.aborted) console.error(error);
            });
            // A hidden page has no frames.
            await new Promise((resolve) =>
                (document.hidden ? setTimeout(resolve, 100) : requestAnimationFrame(resolve)));
        }
        isShowing = false;
    };
}

/**
 * Shows now and after each change of these collections, as `redrawing`.
 * @param {Companion} companion
 * @param {string[]} collections
 * @param {() => Promise<void>} show
 * @param {AbortSignal} signal
 * @param {[EventTarget, string][]} events after which it shows too
 */
export async function live(companion, collections, show, signal, events = []) {
    const update = redrawing(show, signal);
    whenChanged(companion, collections, update, signal);
    for (const [target, kind] of events) target.addEventListener(kind, update, { signal });
    await update();
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
