// Resolves what the companion's modules import as the hub serves them: "/features/backup/zip.js" is
// Web/features/backup/zip.js.
import { readFile } from "node:fs/promises";

const web = new URL("../../Web/", import.meta.url);

export const resolve = (specifier, context, next) =>
    specifier.startsWith("/")
    ? { url: new URL(specifier.slice(1), web).href, shortCircuit: true }
    : next(specifier, context);

export const load = async (url, context, next) =>
    url.startsWith("file:") && url.endsWith(".js")
        ? { format: "module", source: await readFile(new URL(url)), shortCircuit: true }
        : next(url, context);
