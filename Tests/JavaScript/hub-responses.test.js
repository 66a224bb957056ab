// Responses of a hub are validated before anything of them is stored.
import { HubClient } from "/hub/client.js";
import { equal, refusal } from "./harness.js";

const record = {
    collection: "notes", id: "1".repeat(32), vault: "2".repeat(32), revision: 2, epoch: 1, author: "3".repeat(32),
    blobs: [], signature: "", sealed: "",
};

/** Returns the result of a write whose response has this outcome. */
async function written(outcome) {
    const { fetch } = globalThis;
    globalThis.fetch = async () => new Response(JSON.stringify({ outcomes: [outcome] }));
    try {
        return (await new HubClient("https://hub.made", null).write([record]))[0];
    } finally {
        globalThis.fetch = fetch;
    }
}

export const tests = {
    async aStreamThatIsNoLongerReadIsClosed() {
        const { fetch } = globalThis;
        let isClosed = false;
        globalThis.fetch = async () => new Response(new ReadableStream({
            start: (controller) => controller.enqueue(new TextEncoder().encode("event: live\nid: 7\n\n")),
            cancel: () => void (isClosed = true),
        }));
        try {
            for await (const item of new HubClient("https://hub.made", null).stream(0)) {
                if (item.kind === "live") break;
            }
        } finally {
            globalThis.fetch = fetch;
        }
        equal(isClosed, true, "whether its connection is closed");
    },

    async invalidOutcomesOfAWriteAreRefused() {
        const bad = [
            null, 7, { sequence: "x" }, { sequence: -1 }, { sequence: 1.5 }, { sequence: 2 ** 53 }, { conflict: {} },
            { conflict: "x" },
            { conflict: { ...record, revision: "2" } }, { conflict: { ...record, sequence: "x" } }, { error: {} },
            { error: "conflict" },
        ];
        for (const outcome of bad) {
            equal(await refusal(() => written(outcome)), "notUnderstood", JSON.stringify(outcome));
        }
        const error = { code: "conflict", message: "No." };
        for (const outcome of [{ sequence: 7 }, { conflict: record }, { error }]) {
            equal(await written(outcome), outcome, JSON.stringify(outcome));
        }
        equal(await written({ sequence: null, conflict: null, error }), { error }, "null counts as absent");
    },
};
