"""Waiting until a page does nothing any more."""

# Counts the pending operations of a screen (hub, database, cryptography) and its changes. `settled` resolves after five
# frames without either.
COUNT_WORK = """() => {
    let [waiting, begun] = [0, 0];
    const ended = () => void (waiting -= 1);
    const count = () => {
        waiting += 1;
        begun += 1;
    };
    const counted = (owner, name) => {
        const real = owner[name];
        owner[name] = function (...args) {
            count();
            const promise = real.apply(this, args);
            promise.then(ended, ended);
            return promise;
        };
    };
    counted(window, "fetch");
    for (const name of ["json", "text", "arrayBuffer"]) counted(Response.prototype, name);
    const cryptography = ["decrypt", "deriveBits", "deriveKey", "digest", "encrypt", "exportKey", "importKey", "sign"];
    for (const name of [...cryptography, "verify"]) counted(SubtleCrypto.prototype, name);
    for (const name of ["estimate", "persisted"]) counted(StorageManager.prototype, name);
    counted(ServiceWorkerContainer.prototype, "getRegistration");
    for (const name of ["getClientCapabilities", "isUserVerifyingPlatformAuthenticatorAvailable"]) {
        if (window.PublicKeyCredential?.[name]) counted(PublicKeyCredential, name);
    }
    const { transaction } = IDBDatabase.prototype;
    IDBDatabase.prototype.transaction = function (...args) {
        const made = transaction.apply(this, args);
        count();
        for (const kind of ["complete", "abort"]) made.addEventListener(kind, ended);
        return made;
    };
    const everything = { subtree: true, childList: true, characterData: true, attributes: true };
    new MutationObserver(() => void (begun += 1)).observe(document, everything);
    window.settled = async () => {
        for (let calm = 0; calm < 5;) {
            const before = begun;
            await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
            calm = waiting === 0 && begun === before ? calm + 1 : 0;
        }
    };
}"""
