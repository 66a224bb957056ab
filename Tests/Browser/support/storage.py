"""The stored data of a companion, read from one browser and written to others, which is much faster than pairing.

No script can read the keys that a companion stores, so the browser that is paired for this purpose remembers their
bytes."""

# Runs before the page's own scripts: stretches a PIN with one round instead of 600,000, because almost every test
# enters PINs. Passphrases of backups have other rounds and are stretched as always. Tests of the modules that need the
# real cost set `window.hasRealCost` (javascript.py); the stolen profile and the screens in WebKit don't use this.
STRETCH_LITTLE = """() => {
    // An address that is not secure has no cryptography, and tests in WebKit run this again in the same page.
    if (!crypto.subtle || "hasRealCost" in window) return;
    window.hasRealCost = false;
    const { deriveBits } = SubtleCrypto.prototype;
    // On the prototype: a test that counts calls adds properties to crypto.subtle, and deletes them.
    SubtleCrypto.prototype.deriveBits = function (algorithm, ...rest) {
        const isPIN = algorithm.name === "PBKDF2" && algorithm.iterations === 600_000;
        const cost = isPIN && !window.hasRealCost ? { iterations: 1 } : {};
        return deriveBits.call(this, { ...algorithm, ...cost }, ...rest);
    };
}"""

# Runs before the page's own scripts: remembers the bytes of every key that is stored, by where it is stored.
REMEMBER_KEYS = """() => {
    const [importKey, put] = [crypto.subtle.importKey, IDBObjectStore.prototype.put];
    const bytesOf = new WeakMap();
    crypto.subtle.importKey = async function (format, data, ...rest) {
        const key = await importKey.call(this, format, data, ...rest);
        const text = (bytes) => btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
        if (format === "raw") bytesOf.set(key, text(new Uint8Array(data)));
        return key;
    };
    IDBObjectStore.prototype.put = function (value, ...rest) {
        if (value?.key instanceof CryptoKey) {
            localStorage.setItem(`remembered/${this.name}/${value[this.keyPath]}`, bytesOf.get(value.key));
        }
        return put.call(this, value, ...rest);
    };
}"""


def companion_context(new_context, remembers_keys=False, **options):
    """Creates a context for a companion. Its pages stretch a PIN with one round; `remembers_keys`: for `dump`."""
    context = new_context(**options)
    scripts = [REMEMBER_KEYS, STRETCH_LITTLE] if remembers_keys else [STRETCH_LITTLE]
    context.add_init_script(" ".join(f"({script})();" for script in scripts))
    return context


COPY = """
const opened = (name) => new Promise((resolve, reject) => {
    const request = indexedDB.open(name);
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
});
const requested = (request) => new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
});
const text = (bytes) => btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
const bytes = (text) => Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
const packed = (value, place) => {
    if (value instanceof CryptoKey) {
        const raw = localStorage.getItem(`remembered/${place}`);
        if (raw === null) throw new Error(`the key at ${place} was not remembered`);
        return { $: "key", algorithm: value.algorithm.name, usages: value.usages, raw };
    }
    if (value instanceof Uint8Array) return { $: "bytes", text: text(value) };
    if (typeof value === "bigint") return { $: "bigint", text: String(value) };
    if (value === undefined) return { $: "undefined" };
    if (Array.isArray(value)) return value.map((inner) => packed(inner, place));
    if (value === null || typeof value !== "object") return value;
    if (Object.getPrototypeOf(value) !== Object.prototype) throw new Error(`${value} is kept: extend storage.py`);
    return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, packed(inner, place)]));
};
const unpacked = async (value) => {
    if (value === null || typeof value !== "object") return value;
    if (Array.isArray(value)) return Promise.all(value.map(unpacked));
    switch (value.$) {
        case "key": return crypto.subtle.importKey("raw", bytes(value.raw), value.algorithm, false, value.usages);
        case "bytes": return bytes(value.text);
        case "bigint": return BigInt(value.text);
        case "undefined": return undefined;
    }
    const entries = Object.entries(value).map(async ([name, inner]) => [name, await unpacked(inner)]);
    return Object.fromEntries(await Promise.all(entries));
};
"""

DUMP = (
    "async () => {"
    + COPY
    + """
    const database = await opened("applocker");
    const stores = {};
    for (const name of database.objectStoreNames) {
        const store = database.transaction(name).objectStore(name);
        const [keys, values] = await Promise.all([requested(store.getAllKeys()), requested(store.getAll())]);
        stores[name] = keys.map((key, index) => [packed(key), packed(values[index], `${name}/${key}`)]);
    }
    database.close();
    const local = Object.entries(localStorage).filter(([name]) => !name.startsWith("remembered/"));
    return { stores, local };
}"""
)

RESTORE = (
    "async (stored) => {"
    + COPY
    + """
    for (const [name, value] of stored.local) localStorage.setItem(name, value);
    const { CompanionStore } = await import("/store/store.js");
    (await CompanionStore.open()).close();
    const database = await opened("applocker");
    for (const [name, rows] of Object.entries(stored.stores)) {
        const unpackedRow = async ([key, value]) => [await unpacked(key), await unpacked(value)];
        const entries = await Promise.all(rows.map(unpackedRow));
        const store = database.transaction(name, "readwrite").objectStore(name);
        const put = (key, value) => (store.keyPath === null ? store.put(value, key) : store.put(value));
        await Promise.all(entries.map(([key, value]) => requested(put(key, value))));
    }
    database.close();
}"""
)


def dump(page):
    return page.evaluate(DUMP)


def restore(page, stored):
    """`page` must be at the app's address without running the app, such as /tests.html."""
    page.evaluate(RESTORE, stored)
