// Unsealed settings of this device, each a fact of the store.

export class DeviceSettings {
    #device;

    /** @param {DeviceSession} device */
    constructor(device) {
        this.#device = device;
    }

    /**
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

    /** Makes every tab read its settings again. */
    announce() {
        this.#device.emit("state");
        this.#device.tabs.post({ kind: "state" });
    }
}
