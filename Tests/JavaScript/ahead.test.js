// Work that begins before its result is needed.
import { ahead } from "/features/backup/ahead.js";
import { equal } from "./harness.js";

/** Work whose ends are decided by the test; `running` counts what has begun and not ended. */
function work() {
    const ends = new Map();
    const state = { begun: [], running: 0, most: 0 };
    const begin = (item) => {
        state.begun.push(item);
        state.running += 1;
        state.most = Math.max(state.most, state.running);
        return new Promise((resolve, reject) => ends.set(item, { resolve, reject }))
            .finally(() => (state.running -= 1));
    };
    const end = (item, error) => (error ? ends.get(item).reject(error) : ends.get(item).resolve(item));
    return { state, begin, end };
}

const turn = () => new Promise((resolve) => setTimeout(resolve));

export const tests = {
    async resultsKeepTheirOrderAndTwoAreWorkedOnAtOnce() {
        const { state, begin, end } = work();
        const results = [];
        const reading = (async () => {
            for await (const result of ahead(["one", "two", "three"], 2, begin)) results.push(result);
        })();
        await turn();
        equal(state.begun, ["one", "two"], "two begin");
        end("two");
        await turn();
        equal(results, [], "the second waits for the first");
        end("one");
        await turn();
        end("three");
        await reading;
        equal([results, state.most], [["one", "two", "three"], 2], "in order");
    },

    async anErrorIsThrownAfterEverythingThatRunsHasEnded() {
        const { state, begin, end } = work();
        const reading = (async () => {
            for await (const _ of ahead(["one", "two", "three"], 2, begin));
        })();
        let isOver = false;
        const outcome = reading.catch(({ message }) => message).finally(() => (isOver = true));
        await turn();
        end("one", new Error("broken"));
        await turn();
        equal([isOver, state.begun], [false, ["one", "two"]], "nothing new begins, and the other one runs");
        end("two", new Error("also broken"));
        equal(await outcome, "broken", "the first error");
    },
};
