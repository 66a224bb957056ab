// What the tests in the browser are written with. A module exports `tests`: functions by the behaviour they protect.

/**
 * Runs one test; nothing is the answer where it holds.
 * @param {string} module
 * @param {string} name
 * @param {any} given what the runner knows: addresses, links
 * @returns {Promise<string | null>} what failed
 */
export async function run(module, name, given) {
    const { tests } = await import(`/tests/${module}.test.js`);
    if (!Object.hasOwn(tests, name)) return `${module} has no test ${name}, but ${Object.keys(tests).join(", ")}`;
    try {
        await tests[name](given);
        return null;
    } catch (error) {
        return error instanceof Error ? `${error.message}\n${error.stack}` : String(error);
    }
}

/** @param {unknown} condition @param {string} what */
export function expect(condition, what) {
    if (!condition) throw new Error(`Not so: ${what}`);
}

/** @param {unknown} found @param {unknown} wanted @param {string} what */
export function equal(found, wanted, what) {
    const [one, other] = [JSON.stringify(found), JSON.stringify(wanted)];
    if (one !== other) throw new Error(`${what}: ${one} instead of ${other}`);
}

/** The code of the error that it fails with; null where it does not fail. @param {() => unknown} body */
export async function refusal(body) {
    try {
        await body();
        return null;
    } catch (error) {
        const code = /** @type {{ code?: string }} */ (error).code;
        if (code === undefined) throw error;
        return code;
    }
}

/** @param {() => unknown} condition @param {string} what */
export async function eventually(condition, what, seconds = 20) {
    const end = performance.now() + seconds * 1000;
    for (;;) {
        if (await condition()) return;
        if (performance.now() > end) throw new Error(`Not in ${seconds} s: ${what}`);
        await new Promise((resolve) => setTimeout(resolve, 50));
    }
}

/** @param {string} name of a file in Vectors */
export async function vectors(name) {
    const answer = await fetch(`/Vectors/${name}.json`);
    expect(answer.ok, `Vectors/${name}.json is there`);
    // Revisions have 64 bits; a number in JavaScript has 53.
    const text = (await answer.text()).replaceAll(/"revision": ?(\d{16,})/g, '"revision": "$1"');
    return JSON.parse(text, (key, value) => (key === "revision" && typeof value === "string" ? BigInt(value) : value));
}
