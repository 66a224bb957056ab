// What a phone does in a household that a phone founded: it admits and revokes devices, names them, and keeps its
// recovery sheet. docs/formats.md, "Households of phones".

/** @typedef {import("../../crypto/invitation.js").Invitation} Invitation */
/** @typedef {import("../../household/administration.js").Asking} Asking */
/** @typedef {{ key: string, record: HubRecord }} Sent */
/**
 * `groups`: of its code. `modules`: of its link's QR code. `made`: milliseconds since 1970.
 * @typedef {{ hub: string, name: string, secret: Uint8Array, link: string, groups: string[], modules: boolean[][],
 *   made: number }} Sheet
 */

const module = () => import("../../household/administration.js");

export class Administration {
    /**
     * @param {DeviceSession} device
     * @param {import("../../household/household.js").Household} household
     * @param {import("../../sync/record-editor.js").RecordEditor} editor
     */
    constructor(device, household, editor) {
        this.device = device;
        this.household = household;
        this.editor = editor;
    }

    /**
     * Invites and admits a second phone, or a computer.
     * @param {"computer" | "administrator"} role
     * @returns {import("../../ui/invite-sheet.js").Inviting}
     */
    inviting(role) {
        const { device } = this;
        return {
            invite: async () => {
                const [{ createInvitation }, { pairingLink }, { qrCode }] = await Promise.all([module(),
                    import("../../crypto/invitation.js"), import("../../formats/qr-code.js")]);
                // A computer reads links alone.
                const made = await createInvitation(device, role, role === "computer" ? null : role);
                const link = pairingLink(made.invitation);
                return { ...made, link, modules: qrCode(link) };
            },
            asking: async (/** @type {Invitation} */ invitation) => (await module()).askingBy(device, invitation),
            admit: async (/** @type {Invitation} */ invitation, /** @type {Asking} */ asking) =>
                (await module()).admit(device, invitation, asking),
            withdraw: async (/** @type {Invitation} */ invitation) => (await module()).withdraw(device, invitation),
        };
    }

    /**
     * Writes again the names that the device wrote for others: its own records are no longer accepted. Throws HubError,
     * HubUnreachable: then it is not revoked.
     * @param {string} id
     */
    async revoke(id) {
        const { namesBy } = await import("../../household/device-names.js");
        const names = await namesBy(this.device, id);
        const revoked = await (await module()).revokeMember(this.device, id);
        for (const [other, body] of names) {
            if (other === id) continue;
            // The revocation stands; a device without a name can be renamed.
            await this.#send(({ nameRecord }) => nameRecord(this.device, other, body, () => false))
                .catch((error) => console.warn(error));
        }
        return revoked;
    }

    /** This phone leaves; with the last device the hub deletes the household. Throws HubError, HubUnreachable. */
    async leave() {
        await (await module()).leaveHousehold(this.device);
    }

    /** @param {string} id @param {string} name Durable when it returns. Throws StoreError. */
    async rename(id, name) {
        await this.#send(({ nameRecord }) => nameRecord(this.device, id, { name }, (known) => known.name === name));
    }

    /** This phone's name, for the household's other devices; once. */
    async publishOwnName() {
        const { device } = this;
        if (!device.roster.isPhoneFounded || !device.unlocked?.receivesKeys) return;
        const { device: id, name } = device.paired;
        await this.#send(({ nameRecord }) => nameRecord(device, id, { name }, () => true));
    }

    /** @param {(names: typeof import("../../household/device-names.js")) => Promise<Sent | null>} make */
    async #send(make) {
        const made = await make(await import("../../household/device-names.js"));
        if (made) await this.editor.commit({ waiting: [made] });
    }

    /** The verified sheets: one, or two where the older one could not be revoked. */
    async sheets() {
        return (await this.household.members()).filter(({ isSheet }) => isSheet);
    }

    /**
     * A sheet to be printed; it is not valid before `useSheet`.
     * @returns {Promise<Sheet>}
     */
    async draftSheet() {
        const [{ randomBytes }, { codeGroups }, { recoveryLink }, { qrCode }] = await Promise.all([
            import("../../crypto/bytes.js"), import("../../crypto/recovery-code.js"),
            import("../../crypto/derived-device.js"), import("../../formats/qr-code.js")]);
        const { hub, household, name } = this.device.paired;
        const secret = randomBytes(20);
        const link = recoveryLink({ hub, household, secret });
        return { hub, name, secret, link, groups: await codeGroups(secret), modules: qrCode(link), made: Date.now() };
    }

    /**
     * From now on the sheet opens the household, and older ones don't. Throws HubError, HubUnreachable, StoreError.
     * @param {Sheet} sheet
     */
    async useSheet({ secret }) {
        const { addSheet } = await import("../../household/recovery.js");
        const made = await addSheet(this.device, secret, (await this.sheets()).map(({ id }) => id));
        if (made) await this.editor.commit({ waiting: [made] });
    }
}
