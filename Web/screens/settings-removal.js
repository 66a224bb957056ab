// This device leaves the household.
import { element } from "../views/element.js";
import { banner, button, card, section } from "../views/parts.js";
import { counted, sentenceOf } from "../views/words.js";
import { computerToAsk } from "./settings-devices.js";

/** @typedef {import("../views/shell.js").Context} Context */

/** A computer is given so long to revoke this device, in milliseconds. */
const patience = 10_000;

/** @type {import("./settings.js").SettingsPage} */
export async function removal(context) {
    const { companion, signal } = context;
    const warned = element("div", {});
    const warn = async () => {
        const { waiting, failed } = await companion.report();
        const unsent = waiting + failed;
        if (signal.aborted) return;
        warned.hidden = unsent === 0;
        warned.replaceChildren(banner("warning", "danger", element("p", {}, `${counted(unsent, "change")} of your notes ${unsent === 1 ? "is" : "are"} on this device alone and would be lost. Sync first.`)));
    };
    companion.addEventListener("outbox", () => warn().catch(() => {}), { signal });
    await warn();
    return {
        title: "Remove this device",
        body: [
            warned,
            section("What happens", [card(
                element("ul", { class: "settings-points" },
                    element("li", {}, "Everything that AppLocker keeps in this browser is erased: keys, notes, alerts."),
                    element("li", {}, "Your computer takes this device off its list and replaces the keys, if it is on. Otherwise remove it there with “applocker devices revoke”."),
                    element("li", {}, "Notes, alerts and photos stay on your computer and your other devices."),
                    element("li", {}, "To use AppLocker here again, pair it again.")))]),
            button("Remove this device", () => leave(context), { kind: "danger-strong", wide: true, icon: "trash" }),
        ],
    };
}

/** @param {Context} context */
async function leave(context) {
    const { companion, tell } = context;
    const isSure = await context.confirmWithGate({ title: "Remove this device?", text: "Everything AppLocker keeps in this browser is erased now.", action: "Remove" });
    if (!isSure) return;
    tell("Removing…", { milliseconds: patience });
    try {
        await requestRevocation(context);
        await companion.remove();
    } catch (error) {
        // What was kept here is gone already; only the hub did not hear of it.
        if (companion.state === "new" || companion.state === "revoked") console.warn(sentenceOf(error));
        else tell(sentenceOf(error));
    }
}

/**
 * Asks a computer to revoke this device, so that the keys are replaced. Its answer can't be read any more: the hub's refusal is
 * the answer. Whatever comes of it, this device leaves.
 * @param {Context} context
 */
async function requestRevocation(context) {
    const { companion } = context;
    const computer = computerToAsk(context, await companion.household.devices());
    if (!computer?.atHub?.isConnected) return;
    const ended = new AbortController();
    const refused = new Promise((resolve) => {
        const look = () => (companion.following.connection === "removed" || companion.state === "revoked") && resolve(null);
        for (const kind of ["connection", "state"]) companion.addEventListener(kind, look, { signal: ended.signal });
        setTimeout(resolve, patience);
    });
    const sent = companion.commands.send(computer.id, { revokeDevice: { device: companion.device.paired.device } }).catch(() => null);
    await Promise.race([sent, refused]);
    ended.abort();
}
