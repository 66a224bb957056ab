// Stylesheets that a feature needs, beside those of index.html.

/** Of the first screens of a paired device. */
export const pairedStylesheets = ["overview", "launch", "settings", "sharing", "disguise"];

/** @type {Map<string, Promise<unknown>>} */
const added = new Map();

/**
 * Adds stylesheets to the page once. Resolves when they apply, so that nothing is drawn without them. Throws TypeError,
 * as import() does, if one can't be loaded; the next call tries again.
 * @param {string[]} names
 */
export async function addStylesheets(names) {
    await Promise.all(names.map((name) => {
        const known = added.get(name);
        if (known) return known;
        const link = document.createElement("link");
        const adding = new Promise((resolve, reject) => {
            link.addEventListener("load", resolve);
            link.addEventListener("error", () => {
                added.delete(name);
                link.remove();
                reject(new TypeError(`The stylesheet of the module ${name} could not be loaded.`));
            });
        });
        added.set(name, adding);
        link.rel = "stylesheet";
        link.href = `/styles/${name}.css`;
        // The rules of contrast.css apply after all others.
        document.head.querySelector("link[href='/styles/contrast.css']")?.before(link);
        return adding;
    }));
}
