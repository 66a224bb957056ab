// Compares the companion's types of messages with Swift's: node.test.mjs runs it where TypeScript is installed.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { appendFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { notOfCompanions, sourceOf, typeOf } from "./shapes.js";

const root = fileURLToPath(new URL("../..", import.meta.url));
const messages = JSON.parse(readFileSync(join(root, "Vectors/messages.json"), "utf8"));

/** Types that one device stores, or that are part of a message. */
const noMessages = ["ComputerClock", "EventChain", "HubID", "VaultOwners"];

/** The errors of TypeScript, each with its line. */
function errors(folder) {
    const file = join(folder, "messages.ts");
    const source = sourceOf(messages, join(root, "Web"));
    writeFileSync(file, source);
    const types = ["records.d.ts", "hub-api.d.ts"].map((name) => join(root, "Web/types", name));
    writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({
        // `tsc -p Web` checks the libraries, and the files of Web/ themselves.
        compilerOptions: {
            strict: true, noEmit: true, allowJs: true, skipLibCheck: true, target: "es2022", module: "es2022",
            moduleResolution: "node", lib: ["es2022", "dom", "dom.iterable"], types: [],
        },
        files: [join(root, "Tests/JavaScript/shapes.ts"), file, ...types],
    }));
    try {
        execFileSync("tsc", ["-p", folder], { encoding: "utf8" });
        return [];
    } catch (error) {
        if (typeof error.stdout !== "string" || error.stdout === "") throw error;
        const lines = source.split("\n");
        return error.stdout.trim().split("\n")
            .map((line) => `${line} ${lines[Number(/\((\d+),/.exec(line)?.[1]) - 1]?.trim() ?? ""}`);
    }
}

const needs = "needs tsc (Debian: node-typescript)";

function missingTypeScript() {
    try {
        execFileSync("tsc", ["--version"]);
        return false;
    } catch {
        const list = process.env.APPLOCKER_NOT_SHOWN;
        if (list) appendFileSync(list, `NOT SHOWN the companion's types of messages: ${needs}\n`);
        return needs;
    }
}

test("shapes: the companion's types are those of the samples", { skip: missingTypeScript() }, () => {
    const folder = mkdtempSync(join(tmpdir(), "applocker-shapes-"));
    try {
        assert.deepEqual(errors(folder), []);
    } finally {
        rmSync(folder, { recursive: true });
    }
});

test("shapes: every message has a type, and every type a message", () => {
    assert.deepEqual([...Object.keys(typeOf), ...notOfCompanions].sort(), Object.keys(messages).sort());
});

test("shapes: every message of Swift has samples", () => {
    const missing = ["HubAPI", "Household"].flatMap((module) => {
        const folder = join(root, "Sources/Shared", module);
        const sources = readdirSync(folder).map((file) => readFileSync(join(folder, file), "utf8"));
        return sources.flatMap((source) => [...source.matchAll(/^public (?:struct|enum) (\w+): [^{]*\bCodable\b/gm)])
            .map(([, name]) => name);
    }).filter((name) => !Object.hasOwn(messages, name));
    assert.deepEqual(missing.sort(), noMessages);
});
