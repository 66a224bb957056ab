// The modules of this folder that need no browser: `node --test Tests/JavaScript`. The others run in pages:
// Tests/Browser.
import { register } from "node:module";
import { readFile } from "node:fs/promises";
import { test } from "node:test";

register("./modules.mjs", import.meta.url);

// The harness fetches vectors as a page does.
globalThis.fetch = async (address) => new Response(await readFile(new URL(`../..${address}`, import.meta.url)));

for (const module of ["calculation", "gestures", "zip", "exif", "picture-bytes", "vectors", "published-vectors",
    "ahead", "epoch-keys", "former-members", "moment-vectors", "remark-vectors", "versions",
    "hub-responses", "message-checks", "sync-loop", "ios-tab",
    "pin-rules", "pin-line", "idle-lock", "quiet-hours", "push-record", "recovery-sheet", "founding", "qr-code",
    "record-editor", "reminders", "revoking", "sha256", "sealed-pieces", "recording-type",
    "webm-duration", "conflict-copies", "resent-vaults", "event-chain", "moment-copies"]) {
    const { tests } = await import(`./${module}.test.js`);
    for (const [name, body] of Object.entries(tests)) test(`${module}: ${name}`, { timeout: 300_000 }, () => body({}));
}

await import("./shapes.mjs");
