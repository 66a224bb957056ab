// Settings of this device that need not be sealed, each by a name of its own among the facts of the store.

export class DeviceSettings {
    #device;

    /** @param {DeviceSession} device */
    constructor(device) {
        this.#device = device;
    }

    /**
     * Throws StoreError.
     * @template Value
     * @param {string} name
     * @param {Value} otherwise where it was never set
     * @returns {Promise<Value>}
     */
    get(name, otherwise) {
        return this.#device.store.fact(name, otherwise);
    }

    /**
     * Durable when it returns. Throws StoreError.
     * @param {string} name
     * @param {unknown} value
     */
    set(name, value) {
        return this.#device.store.write({ facts: { [name]: value } });
    }

    /** Every tab reads its settings again. */
    announce() {
        this.#device.emit("state");
        this.#device.tabs.post({ kind: "state" });
    }
}
