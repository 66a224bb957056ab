// The scripts of workers, under the one policy of trusted types that the hub's headers name.

const allowed = /^\/(service-worker\.js\?version=[0-9a-f]{64}|workers\/sealing(-recording)?\.js)$/;
const policy = globalThis.trustedTypes?.createPolicy("applocker", {
    createScriptURL: (text) => {
        if (!allowed.test(text)) throw new TypeError("No other script is started.");
        return text;
    },
});

/** @param {string} text a path of this origin. Throws a TypeError for any other script. */
export const scriptURL = (text) => /** @type {string} */ (policy ? policy.createScriptURL(text) : text);
