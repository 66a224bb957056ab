// Revokes another device: in the shared vaults of both, then in the household, by this device or a computer.
import { keysAfterRevoking } from "../../ui/words.js";

/**
 * Outcome of one part. `unclear`: a person has to check.
 * @typedef {{ part: "household" | "vault", name: string, outcome: "removed" | "notIn" | "unclear" | "failed",
 *   sentence: string }} Revocation
 */

/**
 * Each part is tried, whatever the others' outcome. Never throws.
 * @param {Companion} companion
 * @param {{ id: string, name: string } | null} computer that is asked; null where this device revokes
 * @param {string} device
 * @returns {AsyncGenerator<Revocation, void>}
 */
export async function* revokeDevice(companion, computer, device) {
    // First: after the household's revocation, devices remove it there by themselves.
    const vaults = await companion.vaults.list().catch(() => []);
    for (const vault of vaults.filter(({ isLocal }) => !isLocal)) yield await removeFromVault(vault, device);
    for (const { name } of await companion.vaults.locked().catch(() => [])) {
        yield {
            part: "vault", name, outcome: "unclear",
            sentence: "It is locked. Open it with its PIN: then this device removes the other one from it.",
        };
    }
    for (const problem of companion.vaults.problems.values()) {
        yield {
            part: "vault", name: "A vault that can’t be opened", outcome: "unclear",
            sentence: `${problem} Another member has to check whether the device is in it.`,
        };
    }
    yield await revokeInHousehold(companion, computer, device);
}

/**
 * @param {Companion} companion
 * @param {{ id: string, name: string } | null} computer
 * @param {string} device
 * @returns {Promise<Revocation>}
 */
async function revokeInHousehold({ administration, commands }, computer, device) {
    const part = "household";
    const { id, name } = computer ?? { id: "", name: "" };
    try {
        if (!computer) {
            const { pending } = await administration.revoke(device);
            const sentence = `Revoked. ${keysAfterRevoking("household", pending)}`;
            return { part, name, outcome: "removed", sentence };
        }
        const { state, sentence } = await commands.send(id, { revokeDevice: { device } });
        return { part, name, outcome: state === "done" ? "removed" : "failed", sentence };
    } catch (error) {
        return { part, name, outcome: "failed", sentence: /** @type {Error} */ (error).message };
    }
}

/** @param {Vault} vault @param {string} device @returns {Promise<Revocation>} */
async function removeFromVault({ name, companion, membership, isRevoked }, device) {
    /** @param {Revocation["outcome"]} outcome @param {string} sentence @returns {Revocation} */
    const revocation = (outcome, sentence) => ({ part: "vault", name, outcome, sentence });
    if (isRevoked) {
        return revocation("unclear", "This device is no longer a member. A member has to check the other device.");
    }
    try {
        // Includes members who joined lately.
        await companion.refresh();
        const members = await membership.members();
        const theirs = await membership.membersOf(members, device);
        let pending = null;
        for (const { id } of theirs) ({ pending } = await membership.remove(id));
        if (theirs.length > 0) return revocation("removed", `Removed. ${keysAfterRevoking("vault", pending)}`);
        const unknown = members.filter(({ owner, isThis }) => owner === null && !isThis).map((one) => one.name);
        if (unknown.length === 0) return revocation("notIn", "It is not a member, as its members report.");
        return revocation("unclear",
            `The household of these members is unknown: ${unknown.join(", ")}. If the device is one of them, ` +
                `remove it in the vault’s list.`);
    } catch (error) {
        return revocation("failed", `${/** @type {Error} */ (error).message} Remove it in the vault’s list.`);
    }
}
