// Gestures that lock: shaking, laying the phone face down, three taps with three fingers, keys. They use no clock and
// no browser: their input is sensor values with a time in milliseconds, and they return true when the gesture is
// complete.

/**
 * Metres per second squared, along the device's axes.
 * @typedef {{ time: number, x: number, y: number, z: number }} Motion
 */

/**
 * A shake. Each swing has to be stronger than gravity, both ways: a person who walks, runs or drives never accelerates
 * the phone *down* faster than it falls.
 */
export class Shake {
    /** @type {Motion | null} */
    #swing = null;
    /** @type {number[]} */
    #times = [];

    /** Of one swing, in m/s². */
    static strength = 15;
    static swings = 5;
    /** Milliseconds for all swings, and between two: 2 to 12 swings a second. */
    static within = 1200;
    static between = Object.freeze([40, 260]);

    /** @param {Motion} motion without gravity @returns {boolean} */
    moved({ time, x, y, z }) {
        if (!(Math.hypot(x, y, z) >= Shake.strength)) return false;
        const last = this.#swing;
        const swing = { time, x, y, z };
        const [least, most] = Shake.between;
        if (!last || time - last.time > most) this.#times = [];
        else {
            const turned = (last.x * x
                + last.y * y + last.z * z) / (Math.hypot(last.x, last.y, last.z) * Math.hypot(x, y, z));
            // The same swing continues; a sideways one doesn't count.
            if (turned > 0.5) last.time = time;
            if (turned > -0.5) return false;
            // A motor is stronger than a hand, and faster.
            if (time - this.#times[this.#times.length - 1] < least) this.#times = [];
        }
        this.#swing = swing;
        this.#times = [...this.#times.filter((other) => time - other <= Shake.within), time];
        if (this.#times.length < Shake.swings) return false;
        this.#times = [];
        this.#swing = null;
        return true;
    }
}

/** Removes gravity from the values of a phone without a gyroscope: the slowly changing part is gravity. */
export class Gravity {
    /** @type {Motion | null} */
    #slow = null;
    /** Milliseconds in which gravity adapts to a phone that is turned. */
    static follows = 400;

    /** @param {Motion} motion with gravity @returns {Motion} without */
    without({ time, x, y, z }) {
        const slow = this.#slow ?? { time, x, y, z };
        const part = 1 - Math.exp(-Math.max(0, time - slow.time) / Gravity.follows);
        this.#slow = { time, x: slow.x + part * (x - slow.x), y: slow.y
            + part * (y - slow.y), z: slow.z + part * (z - slow.z) };
        return { time, x: x - this.#slow.x, y: y - this.#slow.y, z: z - this.#slow.z };
    }
}

/**
 * The phone lies face down and still. A person reading on their back holds it the same way, but no hand is as still as
 * a table. It must have had another position before.
 */
export class FaceDown {
    #isArmed = false;
    #isDown = false;
    /** Since when it is still, with its direction and motion then. */
    #since = 0;
    /** @type {number[]} */
    #direction = [];
    /** @type {Motion | null} */
    #motion = null;

    /** How far up the screen faces, from 1 to -1: down to 20 degrees askew. */
    static down = -0.94;
    /** It has to have been turned this far before. */
    static before = -0.5;
    /** Milliseconds. */
    static still = 700;
    /** What counts as still: half a degree and 0.15 m/s²; browsers round both to a tenth. */
    static turn = 0.01;
    static shift = 0.15;

    /**
     * @param {{ time: number, beta: number, gamma: number }} orientation degrees (W3C Device Orientation, section 3)
     * @returns {boolean}
     */
    turned({ time, beta, gamma }) {
        const [b, g] = [(beta * Math.PI) / 180, (gamma * Math.PI) / 180];
        const direction = [-Math.cos(b) * Math.sin(g), Math.sin(b), Math.cos(b) * Math.cos(g)];
        if (direction[2] > FaceDown.before) this.#isArmed = true;
        const wasDown = this.#isDown;
        this.#isDown = direction[2] < FaceDown.down;
        if (!wasDown || direction.some((part, index) => Math.abs(part - this.#direction[index]) > FaceDown.turn)) {
            this.#stirred(time, direction);
        }
        return this.#isDone(time);
    }

    /**
     * Browsers report a direction only while it changes, and motion always.
     * @param {Motion} motion with or without gravity, but always the same
     * @returns {boolean}
     */
    moved(motion) {
        const last = this.#motion;
        if (!last || Math.max(Math.abs(motion.x - last.x), Math.abs(motion.y - last.y),
            Math.abs(motion.z - last.z)) > FaceDown.shift) {
            this.#motion = motion;
            this.#since = motion.time;
        }
        return this.#isDone(motion.time);
    }

    /** @param {number} time @param {number[]} direction */
    #stirred(time, direction) {
        this.#direction = direction;
        this.#since = time;
    }

    /** @param {number} time */
    #isDone(time) {
        if (!this.#isArmed || !this.#isDown || time - this.#since < FaceDown.still) return false;
        this.#isArmed = false;
        return true;
    }
}

/** Three taps with three fingers at once: no grip, scroll or zoom is that. */
export class FingerTaps {
    static fingers = 3;
    static taps = 3;
    /** Milliseconds: of one tap, and of all. */
    static tap = 400;
    static within = 1800;

    #began = -Infinity;
    #most = 0;
    #slid = false;
    /** @type {number[]} */
    #times = [];

    /**
     * @param {{ time: number, fingers: number, slid: boolean }} touch `fingers`: on the screen now. `slid`: one of them
     *   moved away from where it touched
     * @returns {boolean}
     */
    touched({ time, fingers, slid }) {
        if (this.#most === 0) [this.#began, this.#slid] = [time, false];
        this.#most = Math.max(this.#most, fingers);
        this.#slid ||= slid;
        if (fingers > 0) return false;
        const isTap = this.#most === FingerTaps.fingers && !this.#slid && time - this.#began <= FingerTaps.tap;
        this.#most = 0;
        this.#times = isTap ? [...this.#times.filter((other) => time - other <= FingerTaps.within), time] : [];
        if (this.#times.length < FingerTaps.taps) return false;
        this.#times = [];
        return true;
    }

    /** The system claimed the touch for a gesture of its own. */
    cancelled() {
        this.#most = 0;
        this.#times = [];
    }
}

/**
 * @typedef {{ time: number, key: string, code: string, ctrl: boolean, alt: boolean, shift: boolean, meta: boolean,
 *   repeat: boolean }} Key
 */

/** Escape three times, in milliseconds. */
const escapesWithin = 1000;
/** Browsers reserve these with Control or Command. */
const taken = new Set(["KeyW", "KeyT", "KeyN", "KeyQ", "Tab"]);
const modifiers = new Set(["Control", "Alt", "Shift", "Meta", "AltGraph", "CapsLock", "Fn", "OS", "Dead", "Process"]);

/**
 * A chord in its stored form, "Ctrl+Shift+KeyL"; null for one that is typed in passing or never reaches a page.
 * @param {Omit<Key, "time" | "repeat">} key
 * @returns {string | null}
 */
export function chordOf({ key, code, ctrl, alt, shift, meta }) {
    if (!code || modifiers.has(key) || key === "Escape" || ((ctrl || meta) && taken.has(code))) return null;
    const isFunctionKey = /^F([1-9]|1\d|2[0-4])$/.test(code);
    if (!isFunctionKey && !ctrl && !meta && !alt) return null;
    return [ctrl && "Ctrl", alt && "Alt", shift && "Shift", meta && "Meta", code].filter(Boolean).join("+");
}

/** Escape three times, or a chord. */
export class PanicKey {
    #choice;
    /** @type {number[]} */
    #escapes = [];

    /** @param {string} choice "escape", or a chord as `chordOf` has it; anything else is off */
    constructor(choice) {
        this.#choice = choice;
    }

    /** @param {Key} key */
    pressed(key) {
        if (key.repeat) return false;
        if (this.#choice !== "escape") return chordOf(key) === this.#choice;
        if (modifiers.has(key.key)) return false;
        this.#escapes = key.key === "Escape"
            ? [...this.#escapes.filter((time) => key.time - time <= escapesWithin), key.time]
            : [];
        if (this.#escapes.length < 3) return false;
        this.#escapes = [];
        return true;
    }
}
