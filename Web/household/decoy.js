// A second PIN, which opens another vault. Nothing reveals it. docs/formats.md, "A companion".
import { placeOf } from "./pin-slots.js";

/** The decoy PIN of the PIN that unlocked this session. */
export class Decoy {
    /** @param {DeviceSession} device @param {() => void} send */
    constructor(device, send) {
        this.device = device;
        this.send = send;
    }

    /** Throws CompanionError `locked`. */
    async isSet() {
        const { keys } = this.device;
        const place = await placeOf(this.device, keys.rootKey);
        this.device.requireUnlocked(keys);
        return Boolean(place?.decoy);
    }

    /**
     * This PIN opens another vault from now on. If the app is killed meanwhile, it works or not, and can be set again.
     * Throws CompanionError `weakPIN`, `full`, `wait`, HubError, HubUnreachable, StoreError.
     * @param {string} pin
     * @param {import("../formats/moment-format.js").MomentContent[]} [moments] that its vault has at first
     */
    async set(pin, moments = []) {
        const { setDecoy } = await import("./decoy-setup.js");
        await setDecoy(this.device, pin, moments);
        this.send();
    }

    /**
     * Its PIN stops working; its vault is removed from the hub too. If the app is killed meanwhile, it can be removed
     * again. Throws CompanionError `notFound`, `wait`, HubError, HubUnreachable, StoreError.
     */
    async remove() {
        const { removeDecoy } = await import("./decoy-setup.js");
        await removeDecoy(this.device);
        this.send();
    }
}

