// What open vaults do by themselves for this household: they remove its revoked devices, and in a household that a
// phone founded its phones join by spare members.

/** @typedef {import("../../session/session-state.js").SessionState} SessionState */
/** @typedef {import("./joining.js").Membership} Membership */

const leftName = "leftVaults";
const longestLeft = 32;

/**
 * Whether the household keeps spare members, and this session has its keys.
 * @param {SessionState} main
 */
export const keepsSpares = ({ device: { roster, unlocked } }) =>
    roster.isPhoneFounded && unlocked?.receivesKeys === true;

/**
 * Those that this phone left, and does not join again by itself. Throws CompanionError `locked`.
 * @param {SessionState} main
 * @returns {Promise<string[]>}
 */
export const leftVaults = async (main) => (await main.privateStorage.get(leftName)) ?? [];

/** @param {SessionState} main @param {string[]} ids */
export const setLeftVaults = (main, ids) => main.privateStorage.set(leftName, ids.slice(-longestLeft));

/**
 * Joins the shared vaults of the household that this phone is not in yet, one at a time over all tabs: each would join.
 * @param {SessionState} main
 * @param {{ hasRoomFor: (id: string) => Promise<boolean>, isOpen: () => boolean,
 *   enter: (membership: Membership, name: string) => Promise<unknown> }} list `hasRoomFor`: and it isn't there yet
 */
export async function joinKept(main, { hasRoomFor, isOpen, enter }) {
    if (!keepsSpares(main)) return;
    const { joinBySpare, listKept } = await import("./spare.js");
    await main.device.tabs.exclusive("join-kept", async () => {
        const left = new Set(await leftVaults(main));
        for (const one of await listKept(main.device)) {
            if (!isOpen()) return;
            if (left.has(one.household) || !(await hasRoomFor(one.household))) continue;
            // One that its members removed prevents no other.
            await joinBySpare(main.device, one, (membership) => enter(membership, one.name))
                .catch((error) => console.warn(error));
        }
    });
}

/**
 * One at a time over all tabs: each would make one. A failure is retried with the next connection.
 * @param {SessionState} main
 * @param {Vault} vault
 * @param {() => Promise<boolean | null>} hasPIN of the vault's own; null: it was closed meanwhile
 */
export async function settleSpare(main, vault, hasPIN) {
    if (!keepsSpares(main) || vault.isRevoked || vault.isLocal) return;
    const { ensureSpare } = await import("./spare.js");
    await main.device.tabs.exclusive(`spare/${vault.id}`, async () => {
        const has = await hasPIN();
        if (has !== null) await ensureSpare(main, vault, has);
    }).catch((error) => console.warn(error));
}

/**
 * Removes members that this household has revoked. A failure is retried with the next connection.
 * @param {SessionState} main
 * @param {Vault} vault
 * @param {(name: string) => void} removed
 */
export async function removeRevoked(main, { membership, isLocal }, removed) {
    const { revoked } = main.device.roster;
    if (revoked.size === 0 || isLocal) return;
    try {
        const members = await membership.members();
        for (const device of revoked) {
            for (const member of await membership.membersOf(members, device)) {
                if (member.isThis) continue;
                const { isNew } = await membership.remove(member.id);
                if (isNew && !member.spareOf) removed(member.name);
            }
        }
    } catch (error) {
        console.warn(error);
    }
}
