// Assertions of the tests in JavaScript. A module exports `tests`: functions, named by the behaviour that they assert.

/**
 * Runs one test; returns null if it passes.
 * @param {string} module
 * @param {string} name
 * @param {any} arg parameters of the runner, such as seeds
 * @returns {Promise<string | null>} the failure
 */
export async function run(module, name, arg) {
    const { tests } = await import(`/tests/${module}.test.js`);
    if (!Object.hasOwn(tests, name)) return `${module} has no test ${name}, but ${Object.keys(tests).join(", ")}`;
    try {
        await tests[name](arg);
        return null;
    } catch (error) {
        return error instanceof Error ? `${error.message}\n${error.stack}` : String(error);
    }
}

/** @param {unknown} condition @param {string} what */
export function expect(condition, what) {
    if (!condition) throw new Error(`Expected:  ${what}`);
}

/** @param {unknown} found @param {unknown} wanted @param {string} what */
export function equal(found, wanted, what) {
    const [one, other] = [JSON.stringify(found), JSON.stringify(wanted)];
    if (one !== other) throw new Error(`${what}: ${one} instead of ${other}`);
}

/** Returns the code of the error that `body` throws, or null if it succeeds. @param {() => unknown} body */
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
export async function eventually(condition, what) {
    const end = performance.now() + 60_000;
    for (;;) {
        if (await condition()) return;
        if (performance.now() > end) throw new Error(`Not within 60 s: ${what}`);
        await new Promise((resolve) => setTimeout(resolve, 50));
    }
}

/** @param {string} name of a file in Vectors */
export async function vectors(name) {
    const response = await fetch(`/Vectors/${name}.json`);
    expect(response.ok, `Vectors/${name}.json exists`);
    // A revision has 64 bits; a number in JavaScript is exact to 53.
    const text = (await response.text()).replaceAll(/"revision": ?(\d{16,})/g, '"revision": "$1"');
    return JSON.parse(text, (key, value) => (key === "revision" && typeof value === "string" ? BigInt(value) : value));
}
