// The movements that lock, as sequences of sensor readings: 60 a second, rounded to a tenth as browsers do, with
// noise.
import { chordOf, FaceDown, FingerTaps, Gravity, PanicKey, Shake } from "/features/panic/gestures.js";
import { equal, expect } from "./harness.js";

const step = 1000 / 60;
const [g, turn] = [9.81, 2 * Math.PI];

/** Repeatable random numbers (Park and Miller, 1988). */
function noise(seed = 1) {
    return () => {
        seed = (seed * 48271) % 2147483647;
        return (seed / 2147483647) * 2 - 1;
    };
}

const tenth = (/** @type {number} */ value) => Math.round(value * 10) / 10;

/** Samples of motion from the acceleration `at` each second, with noise of `spread` m/s². */
function motion(/** @type {number} */ seconds, /** @type {(t: number) => number[]} */ at, spread = 0.3, start = 0) {
    const next = noise(Math.round(seconds * 100) + 7);
    return Array.from({ length: Math.round((seconds * 1000) / step) }, (_, index) => {
        const [x, y, z] = at((index * step) / 1000).map((value) => tenth(value + spread * next()));
        return { time: start + index * step, x, y, z };
    });
}

const wave = (/** @type {number} */ t, /** @type {number} */ hertz, phase = 0) => Math.sin(turn * hertz * t + phase);

/** How often a shake is detected. */
function shakes(/** @type {any[]} */ samples, isRaw = false) {
    const [shake, gravity] = [new Shake(), new Gravity()];
    return samples.filter((one) => shake.moved(isRaw ? gravity.without(one) : one)).length;
}

/** Walking: the foot meets the ground, and the body swings. `impact` in m/s². */
const gait = (/** @type {number} */ hertz, /** @type {number} */ impact) => (/** @type {number} */ t) => {
    const phase = (t * hertz) % 1;
    const hit = phase < 0.12 ? impact * Math.sin((phase / 0.12) * Math.PI) : 0;
    // Between two steps the body falls, never faster than gravity.
    const fall = phase > 0.5 ? -Math.min(g, impact / 3) * Math.sin((phase - 0.5) * turn) : 0;
    return [wave(t, hertz / 2) * impact * 0.15, hit + fall, wave(t, hertz, 1) * impact * 0.2];
};

export const tests = {
    aShakeIsDetectedWithinASecond() {
        for (const [hertz, strength] of [[3, 22], [4, 25], [5, 35], [6, 60]]) {
            for (const axis of [[1, 0, 0], [0, 1, 0], [0.6, 0, 0.8]]) {
                const samples = motion(1.2, (t) => axis.map((part) => part * strength * wave(t, hertz)), 1);
                expect(shakes(samples) >= 1, `${hertz} Hz, ${strength} m/s²`);
                const first = samples.findIndex((_, index) => shakes(samples.slice(0, index + 1)) === 1);
                expect(samples[first].time <= 1000, `${hertz} Hz after ${samples[first].time} ms`);
            }
        }
    },

    aShakeIsDetectedWithoutAGyroscope() {
        const samples = motion(1.5, (t) => [25 * wave(t, 4), 0, g]);
        expect(shakes(samples, true) >= 1, "with gravity in it");
        equal(shakes(motion(20, (t) => [g * Math.sin(t), 0, g * Math.cos(t)]), true), 0,
            "a phone that is turned repeatedly");
    },

    walkingRunningAndStairsAreNotAShake() {
        for (const [hertz, impact] of [[1.8, 6], [2, 12], [2.4, 18], [2.8, 30], [3.2, 45]]) {
            equal(shakes(motion(60, gait(hertz, impact))), 0, `${hertz} steps a second, ${impact} m/s²`);
            const raw = motion(60, (t) => gait(hertz, impact)(t).map((value, axis) => value + (axis === 1 ? g : 0)));
            equal(shakes(raw, true), 0, `${hertz} steps a second with gravity`);
        }
    },

    drivingAndTrainsAreNotAShake() {
        equal(shakes(motion(60, (t) => [wave(t, 0.3) * 4, wave(t, 1.5) * 3, wave(t, 12) * 4], 1)), 0, "a bad road");
        // Potholes: a hard blow with decaying vibration, every two seconds.
        equal(shakes(motion(60, (t) => [0, 0, 25 * Math.exp(-(t % 2) * 18) * wave(t % 2, 11)])), 0, "potholes");
        // A motor's vibration in a mount is strong, but much too quick for a hand.
        equal(shakes(motion(20, (t) => [0, 18 * wave(t, 28), 0])), 0, "a motorbike's mount");
    },

    aBlowAFallAndATossAreNotAShake() {
        equal(
            shakes(motion(3, (t) => (t < 0.5 ? [0, 0, -g]
                : t < 0.56 ? [40, 10, 120] : t < 0.7 ? [-20, 5, -30] : [0, 0, 0]))), 0, "dropped");
        equal(
            shakes(motion(2, (t) => (t < 0.25 ? [0, 30, 0] : t < 0.6 ? [0, -g, 0] : t < 0.7 ? [0, 35, 0] : [0, 0, 0]))),
            0, "tossed and caught");
        equal(shakes(motion(3, (t) => (t % 1.5 < 0.08 ? [0, 20, 5] : [0, 0, 0]))), 0, "put down hard, twice");
        // Pulled out of a pocket and turned.
        equal(shakes(motion(2, (t) => [12 * wave(t, 1.5), 10 * wave(t, 1, 1), 8 * wave(t, 2, 2)])), 0,
            "pulled out of a pocket");
    },

    fourSwingsAreNotEnough() {
        const samples = motion(2, (t) => (t < 0.5 ? [25 * wave(t, 4), 0, 0] : [0, 0, 0]), 0.1);
        equal(shakes(samples), 0, "to and fro, twice");
    },

    layingThePhoneFaceDownIsDetected() {
        equal(laid([[0.6, 40, 5], [0.5, 178, 1]], [1.5, 178.5, 1]), 1, "turned by its long side");
        equal(laid([[0.6, 30, 0], [0.5, 0, 178]], [1.5, 0.5, -179]), 1, "turned over sideways");
        equal(laid([[0.6, 60, 0], [0.5, -176, 2]], [1.5, -176, 2]), 1, "beta from the other side");
    },

    layingFaceDownIsDetectedOnceWithinASecond() {
        const found = laidTimes([[0.6, 40, 5], [0.5, 178, 1]], [6, 178, 1]);
        equal(found.length, 1, "once");
        expect(found[0] <= 1100 + 1000, `after ${found[0]} ms`);
    },

    layingThePhoneFaceUpIsNotDetected() {
        equal(laid([[0.6, 50, 5], [0.5, 2, 1]], [5, 1, 0.5]), 0, "face up");
        equal(laid([[0.6, 50, 5], [0.5, 75, 1]], [5, 75, 0.5]), 0, "in a stand");
        equal(laid([[0.6, 50, 5], [0.5, 90, 0]], [5, 90, 0]), 0, "upright in a mount");
        equal(laid([[0.6, 50, 5], [0.5, 150, 0]], [5, 150, 0]), 0, "leaning forward");
    },

    readingOverheadIsNotDetected() {
        // Overhead, the screen looks down; a hand sways by a degree and trembles by 0.2 m/s².
        const reading = new FaceDown();
        let found = 0;
        const next = noise(5);
        for (let index = 0; index < 60 * 120; index++) {
            const [time, t] = [index * step, (index * step) / 1000];
            const start = t < 1;
            found += Number(reading.turned({
                time, beta: start ? 60 : tenth(178 + 0.8 * wave(t, 0.7) + 0.3 * wave(t, 9) + 0.1 * next()),
                gamma: tenth(2 + 0.6 * wave(t, 0.5)) }));
            found += Number(reading.moved({
                time, x: tenth(0.25 * wave(t, 9) + 0.05 * next()), y: tenth(0.2 * wave(t, 8, 1)),
                z: tenth(0.15 * wave(t, 1.3)) }));
        }
        equal(found, 0, "in two minutes");
    },

    aPhoneThatStartsFaceDownIsNotDetected() {
        equal(laid([], [5, 179, 0]), 0, "a phone that always faced down");
    },

    aVibratingSeatIsNotDetectedAsLyingStill() {
        equal(laid([[0.6, 40, 5], [0.5, 178, 1]], [8, 178, 1], 0.8), 0, "in a moving car");
    },

    layingThePhoneFaceDownAgainIsDetectedAgain() {
        equal(laid([[0.6, 40, 5], [0.5, 178, 1], [1.5, 178, 1], [0.5, 30, 0], [1, 30, 0], [0.5, 179, 0]],
            [1.5, 179, 0]), 2, "twice");
    },

    threeTapsWithThreeFingersAreDetected() {
        equal(taps([[0, 3], [90, 0], [300, 3], [390, 0], [600, 3], [700, 0]]), 1, "at once");
        equal(
            taps([[0, 1], [20, 2], [35, 3], [90, 2], [100, 0],
                [300, 2], [320, 3], [390, 0], [600, 1], [615, 3], [700, 1], [710, 0]]), 1,
                    "fingers one after the other");
    },

    everydayTouchesAreNotThreeFingerTaps() {
        equal(taps([[0, 1], [60, 0], [150, 1], [210, 0], [300, 1], [360, 0], [450, 1], [500, 0]]), 0, "one finger");
        equal(taps([[0, 2], [60, 0], [150, 2], [210, 0], [300, 2], [360, 0]]), 0, "two fingers");
        equal(taps([[0, 4], [60, 0], [150, 4], [210, 0], [300, 5], [360, 0]]), 0, "more than three fingers");
        equal(taps([[0, 3], [2000, 0], [2200, 3], [4000, 0], [4200, 3], [6000, 0]]), 0, "held");
        equal(taps([[0, 3], [90, 0], [300, 3], [390, 0], [500, 1], [560, 0], [700, 3], [800, 0]]), 0,
            "with another tap between");
        equal(taps([[0, 3], [90, 0], [1200, 3], [1290, 0], [2600, 3], [2690, 0]]), 0, "slowly");
        equal(taps([[0, 3], [90, 0], [300, 3], [390, 0], [600, 3, true], [700, 0]]), 0, "a swipe");
        equal(taps([[0, 3], [90, 0], [300, 3], [390, 0]]), 0, "twice");
    },

    aSystemGestureResetsTheTaps() {
        const watch = new FingerTaps();
        for (const time of [0, 300]) {
            watch.touched({ time, fingers: 3, slid: false });
            watch.touched({ time: time + 80, fingers: 0, slid: false });
        }
        watch.cancelled();
        watch.touched({ time: 600, fingers: 3, slid: false });
        equal(watch.touched({ time: 680, fingers: 0, slid: false }), false, "the third");
    },

    escapeThreeTimesIsDetected() {
        equal(keys("escape", ["Escape", 0], ["Escape", 200], ["Escape", 400]), 1, "quickly");
        equal(keys("escape", ["Escape", 0], ["Escape", 200], ["Escape", 1400]), 0, "slowly");
        equal(keys("escape", ["Escape", 0], ["a", 100], ["Escape", 200], ["Escape", 400]), 0, "with a letter between");
        equal(keys("escape", ["Escape", 0, { repeat: true }], ["Escape", 30, { repeat: true }],
            ["Escape", 60, { repeat: true }]), 0, "held");
        equal(keys("off", ["Escape", 0], ["Escape", 200], ["Escape", 400]), 0, "turned off");
    },

    onlyTheChosenShortcutIsDetected() {
        const chord = { key: "l", code: "KeyL", ctrl: true, alt: false, shift: true, meta: false };
        equal(chordOf(chord), "Ctrl+Shift+KeyL", "the stored form");
        equal(keys("Ctrl+Shift+KeyL", ["L", 0, { code: "KeyL", ctrl: true, shift: true }]), 1, "pressed");
        equal(keys("Ctrl+Shift+KeyL", ["l", 0, { code: "KeyL", ctrl: true }], ["L", 10, { code: "KeyL", shift: true }],
            ["Escape", 20]), 0, "other keys");
        equal(chordOf({ ...chord, key: "F9", code: "F9", ctrl: false, shift: false }), "F9", "only a function key");
        for (const [what, change] of Object.entries({
            letter: { ctrl: false, shift: false }, capital: { ctrl: false },
            modifier: { key: "Control", code: "ControlLeft" },
            browser: { key: "w", code: "KeyW" }, escape: { key: "Escape", code: "Escape" }, nameless: { code: "" } })) {
            equal(chordOf({ ...chord, ...change }), null, what);
        }
    },
};

/** @param {string} choice @param {...any} pressed */
function keys(choice, ...pressed) {
    const watch = new PanicKey(choice);
    return pressed.filter(([key, time, more = {}]) => watch.pressed({
        time, key, code: key, ctrl: false, alt: false, shift: false, meta: false, repeat: false, ...more })).length;
}

/** @param {any[]} touches */
function taps(touches) {
    const watch = new FingerTaps();
    return touches.filter(([time, fingers, slid = false]) => watch.touched({ time, fingers, slid })).length;
}

/** @param {number[][]} ways @param {number[]} rest @param {number} [spread] */
const laid = (ways, rest, spread) => laidTimes(ways, rest, spread).length;

/**
 * A hand moves the phone to each of these directions within the given seconds; then the phone lies still. Meanwhile
 * browsers report no unchanged direction.
 * @param {number[][]} ways seconds, beta, gamma
 * @param {number[]} rest seconds, beta, gamma
 * @param {number} [spread] vibration while it lies, in m/s²
 */
function laidTimes(ways, rest, spread = 0.05) {
    const [watch, next, found] = [new FaceDown(), noise(3), /** @type {number[]} */ ([])];
    let [time, beta, gamma] = [0, ways[0]?.[1] ?? rest[1], ways[0]?.[2] ?? rest[2]];
    /** @type {string} */
    let lastFed = "";
    const feed = (/** @type {number} */ b, /** @type {number} */ c, /** @type {number} */ shaking) => {
        const key = `${tenth(b)} ${tenth(c)}`;
        let isFound = key !== lastFed && watch.turned({ time, beta: tenth(b), gamma: tenth(c) });
        lastFed = key;
        isFound = watch.moved({
            time, x: tenth(shaking * next()), y: tenth(shaking * next()), z: tenth(shaking * next()),
        }) || isFound;
        if (isFound) found.push(time);
        time += step;
    };
    for (const [seconds, toBeta, toGamma] of [...ways, rest]) {
        const isStill = toBeta === beta && toGamma === gamma;
        const count = Math.round((seconds * 1000) / step);
        const [fromBeta, fromGamma] = [beta, gamma];
        for (let index = 1; index <= count; index++) {
            const part = index / count;
            if (isStill || seconds === rest[0]) feed(toBeta, toGamma, spread);
            else feed(fromBeta + part * (toBeta - fromBeta), fromGamma + part * (toGamma - fromGamma), 2);
        }
        [beta, gamma] = [toBeta, toGamma];
    }
    return found;
}
