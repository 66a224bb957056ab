// This device leaves the household.
import { element } from "../../ui/element.js";
import { redrawing } from "../../ui/live.js";
import { banner, button, card, points, section } from "../../ui/parts.js";
import { counted, sentenceOf } from "../../ui/words.js";
import { computerToAsk } from "./settings.js";

/** How long a computer has to revoke this device, in milliseconds. */
const patience = 10_000;

/** @type {SettingsPage} */
export async function removal(context) {
    const { companion, signal } = context;
    const warned = element("div", {});
    const read = async () => {
        const { waiting, failed } = await companion.report();
        const unsent = waiting + failed;
        return () => {
            warned.hidden = unsent === 0;
            warned.replaceChildren(banner("warning", "danger", element("p", {},
                `${counted(unsent, "change")} of your notes ${unsent === 1 ? "is" : "are"} only on this device and ` +
                    `would be lost. Sync first.`)));
        };
    };
    companion.addEventListener("outbox", redrawing(read, signal), { signal });
    (await read())();
    const local = (await companion.vaults.list()).filter(({ isLocal }) => isLocal);
    return {
        title: "Revoke this device",
        body: [
            warned,
            ...local.map(({ name }) => banner("warning", "danger",
                `“${name}” is only on this device and would be lost. Export a backup of it first.`)),
            section("What happens", [card(companion.isPhoneFounded ? await ofPhones(companion) : points(
                "Everything that AppLocker stores in this browser is erased: keys, notes, alerts.",
                "If your computer is running, it revokes this device and replaces the keys. Otherwise revoke it "
                    + "there with “applocker devices revoke”.",
                "Notes, alerts and photos stay on your computer and your other devices.",
                "To use AppLocker here again, pair it again."))]),
            button("Revoke this device", () => leave(context), { kind: "danger-strong", wide: true, icon: "trash" }),
        ],
    };
}

/** @param {Companion} companion of a household that a phone founded */
async function ofPhones({ household }) {
    const others = (await household.members()).filter(({ isThis }) => !isThis);
    const rest = others.some(({ isSheet }) => !isSheet)
        ? "Moments, notes and photos stay on your other devices, which replace the keys."
        : others.length > 0
            ? "This is your only device: afterwards your recovery sheet alone opens what is at the hub."
            : "This is your only device, and there is no recovery sheet: everything is permanently deleted, also at "
                + "the hub.";
    return points("Everything that AppLocker stores in this browser is erased: keys, moments, notes, shared vaults.",
        rest, "To use AppLocker here again, set it up again.");
}

/** @param {Context} context */
async function leave(context) {
    const { companion, toast } = context;
    const isSure = await context.confirmUnlock({
        title: "Revoke this device?", text: "Everything that AppLocker stores in this browser is erased.",
        action: "Revoke",
    });
    if (!isSure) return;
    toast("Revoking…", { milliseconds: patience });
    try {
        await requestRevocation(context);
        await companion.remove();
    } catch (error) {
        // The data on this device is erased; only the hub was not notified.
        if (companion.state === "new" || companion.state === "revoked") console.warn(sentenceOf(error));
        else toast(sentenceOf(error));
    }
}

/**
 * Asks a computer to revoke this device, so that the keys are replaced. Its reply can't be read any more, so the hub's
 * refusal counts as the answer. The device leaves in any case.
 * @param {Context} context
 */
async function requestRevocation(context) {
    const { companion } = context;
    if (companion.isPhoneFounded) {
        // Everything here is erased in any case.
        return companion.administration.leave().catch((error) => {
            if (error?.name !== "HubUnreachable") throw error;
        });
    }
    const computer = computerToAsk(context, await companion.household.devices());
    if (!computer?.atHub?.isConnected) return;
    const ended = new AbortController();
    const refused = new Promise((resolve) => {
        const look = () => (companion.syncLoop.connection === "removed" || companion.state === "revoked")
            && resolve(null);
        for (const kind of ["connection", "state"]) companion.addEventListener(kind, look, { signal: ended.signal });
        setTimeout(resolve, patience);
    });
    const sent = companion.commands.send(computer.id, { revokeDevice: { device: companion.own.device } })
        .catch(() => null);
    await Promise.race([sent, refused]);
    ended.abort();
}
