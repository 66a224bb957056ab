// When a visible companion without input locks itself. Time is injected.
import { IdleLock } from "/features/lock-screen/idle-lock.js";
import { equal } from "./harness.js";

/** A visible page with an unlocked companion, whose timers and clocks a test advances. */
async function visible({ kept = undefined } = {}) {
    const time = { monotonic: 0, wall: 1_700_000_000_000 };
    const timers = new Map();
    const { setTimeout: later, clearTimeout: cancel } = globalThis;
    globalThis.setTimeout = (body, milliseconds) => {
        const id = {};
        timers.set(id, { body, at: time.monotonic + milliseconds });
        return id;
    };
    globalThis.clearTimeout = (id) => void timers.delete(id);
    const page = Object.assign(new EventTarget(), {
        visibilityState: "visible", media: [], progress: null,
        querySelectorAll: () => page.media, querySelector: () => page.progress,
    });
    const companion = Object.assign(new EventTarget(), {
        state: "unlocked",
        settings: {
            kept, get: async (_, usual) => companion.settings.kept ?? usual, announce() {},
            set: async (_, value) => void (companion.settings.kept = value),
        },
        lockTab() {
            companion.state = "locked";
        },
    });
    const lock = new IdleLock(companion, page, { monotonic: () => time.monotonic, wall: () => time.wall });
    await lock.ready;
    return {
        companion, lock, page, time,
        touch: (kind = "pointermove") => page.dispatchEvent(new Event(kind)),
        advance(seconds) {
            const end = time.monotonic + seconds * 1000;
            for (;;) {
                const [id, next] = [...timers].sort(([, one], [, other]) => one.at - other.at)[0] ?? [];
                if (!next || next.at > end) break;
                time.wall += next.at - time.monotonic;
                time.monotonic = next.at;
                timers.delete(id);
                next.body();
            }
            time.wall += end - time.monotonic;
            time.monotonic = end;
        },
        end() {
            lock.end();
            Object.assign(globalThis, { setTimeout: later, clearTimeout: cancel });
        },
    };
}

/** @param {(watched: any) => void | Promise<void>} body @param {object} [options] */
const during = (body, options) => async () => {
    const watched = await visible(options);
    try {
        await body(watched);
    } finally {
        watched.end();
    }
};

export const tests = {
    anUntouchedCompanionLocksAfterFiveMinutes: during(({ advance, companion }) => {
        advance(299);
        equal(companion.state, "unlocked", "before");
        advance(1);
        equal(companion.state, "locked", "after");
    }),

    eachTouchStartsTheTimeAgain: during(({ advance, companion, touch }) => {
        for (const kind of ["pointerdown", "pointermove", "touchmove", "wheel", "scroll", "keydown", "input"]) {
            advance(200);
            touch(kind);
        }
        advance(299);
        equal(companion.state, "unlocked", "touched");
        advance(1);
        equal(companion.state, "locked", "no more");
    }),

    mediaThatPlaysAndProgressCountAsTouch: during(({ advance, companion, page }) => {
        page.media = [{ paused: true }, { paused: false }];
        advance(900);
        equal(companion.state, "unlocked", "it plays");
        page.media = [{ paused: true }];
        page.progress = {};
        advance(900);
        equal(companion.state, "unlocked", "an import runs");
        page.progress = null;
        advance(300);
        equal(companion.state, "locked", "it ended");
    }),

    theFirstTouchAfterASleepLocks: during(({ companion, time, touch }) => {
        // Only the wall clock advanced, and no timer fired yet.
        time.wall += 301_000;
        touch();
        equal(companion.state, "locked", "state");
    }),

    aHiddenPageFollowsTheOtherSetting: during(({ advance, companion, page, touch }) => {
        page.visibilityState = "hidden";
        touch("visibilitychange");
        advance(900);
        equal(companion.state, "unlocked", "hidden");
        page.visibilityState = "visible";
        touch("visibilitychange");
        advance(299);
        equal(companion.state, "unlocked", "showing it is a touch");
        advance(1);
        equal(companion.state, "locked", "nobody touches it");
    }),

    theTimeIsChosen: during(async ({ advance, companion, lock }) => {
        equal(lock.seconds, 900, "what was stored");
        advance(899);
        equal(companion.state, "unlocked", "15 minutes");
        await lock.set(0);
        companion.dispatchEvent(new Event("state"));
        await lock.ready;
        advance(100_000);
        equal(companion.state, "unlocked", "never");
        await lock.set(60);
        companion.dispatchEvent(new Event("state"));
        advance(0);
        await Promise.resolve().then(() => {});
        advance(60);
        equal(companion.state, "locked", "1 minute");
    }, { kept: 900 }),
};
