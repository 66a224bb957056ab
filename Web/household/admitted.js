// The devices that this device admitted, in sessions with the household's keys. Sealed.
import { PrivateStorage } from "./private-storage.js";

const name = "admitted";
const most = 32;

/**
 * The devices that sessions with this session's keys admitted.
 * @param {DeviceSession} device
 * @returns {Promise<string[]>}
 */
export const admittedHere = async (device) => (await new PrivateStorage(device).get(name)) ?? [];

/** @param {DeviceSession} device @param {string} id */
export async function rememberAdmitted(device, id) {
    await new PrivateStorage(device).set(name, [...(await admittedHere(device)), id].slice(-most));
}
