// How much the browser stores for the app, and whether it keeps that when space is low (the StorageManager interface).

/** @returns {Promise<{ persisted: boolean, usage: number, quota: number }>} */
export async function storageRoom() {
    const storage = navigator.storage;
    if (!storage?.estimate) return { persisted: false, usage: 0, quota: 0 };
    const persisted = (await storage.persisted?.()) ?? false;
    const { usage = 0, quota = 0 } = await storage.estimate();
    return { persisted, usage, quota };
}

/** Asks the browser to keep the data when space is low. @returns {Promise<boolean>} whether it agreed */
export const persistStorage = async () => (await navigator.storage?.persist?.().catch(() => false)) ?? false;
