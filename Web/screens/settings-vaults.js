// The vaults that are shared: which there are, a new one, and coming into somebody else's.
import { element } from "../views/element.js";
import { forgetInvitation, invitation } from "../views/invitation.js";
import { button, card, empty, field, row, section, tile } from "../views/parts.js";
import { sheet } from "../views/sheet.js";
import { counted, sentenceOf } from "../views/words.js";
import { longestVaultName } from "../core/vault-membership.js";
import { chooseVault } from "./vault-choice.js";
import { vaultPage } from "./settings-vault.js";

/** @typedef {import("../views/shell.js").Context} Context */

const longestName = 64;
const bytesOf = (/** @type {string} */ text) => new TextEncoder().encode(text).length;

/** @type {import("./settings.js").SettingsPage} */
export async function vaultsPage(context) {
    const id = context.query.get("vault");
    if (id) return vaultPage(context, id);
    const { companion, signal } = context;
    const list = element("div", { class: "settings-parts" });
    const draw = async () => {
        const vaults = await companion.vaults.list();
        if (signal.aborted) return;
        const problems = [...companion.vaults.problems];
        list.replaceChildren(
            vaults.length === 0 && problems.length === 0
                ? empty("heart", "No shared vault yet", "A shared vault has the moments that you keep with somebody else. Your own stay yours alone.")
                : element("div", { class: "card rows" },
                    ...vaults.map(({ id: own, name, membership, isOut }) => row({
                        start: tile("heart", isOut ? "warning" : ""), title: name, href: `#/settings/vaults?vault=${own}`,
                        note: isOut ? "You do not belong to it any more" : membership.count === 1 ? "Only this device so far" : counted(membership.count, "device"),
                    })),
                    ...problems.map(([own, problem]) => row({
                        start: tile("warning", "danger"), title: "A vault that can’t be opened", note: problem,
                        onclick: () => forget(context, own),
                    }))));
    };
    await draw();
    companion.vaults.addEventListener("changed", () => void draw().catch(() => {}), { signal });
    const link = invitation();
    return {
        title: "Shared vaults",
        body: [
            link && joinCard(context, link), list,
            element("div", { class: "settings-form" },
                button("New shared vault", () => create(context), { wide: true, kind: link ? "" : "primary", icon: "plus" }),
                button("Join by an invitation", () => paste(context), { wide: true, icon: "key" })),
            section(null, [], { foot: "Everybody in a vault reads and changes all of it, invites devices and removes them. The hub sees that there is one more household, and which devices connect; not its name, and nothing in it. Both of you need to be at the same hub." }),
        ],
    };
}

/** @param {Context} context @param {string} id */
async function forget(context, id) {
    const isSure = await context.ask({
        title: "Remove it from this device?", action: "Remove", isDanger: true,
        text: "What this device has of the vault goes. The others keep all of it, and can invite this device again.",
    });
    if (!isSure) return;
    await context.companion.vaults.forget(id).then(() => context.tell("Removed from this device"), (error) => context.tell(sentenceOf(error)));
}

/**
 * A form in a sheet; null where it was left.
 * @param {Context} context
 * @param {string} title
 * @param {string} text
 * @param {{ label: string, value?: string, type?: string, problem: (typed: string) => string | null, action: string }} content
 */
export const asked = (context, title, text, { label, value = "", type = "text", problem, action }) =>
    sheet(title, context.signal, (/** @type {(answer: string | null) => void} */ end) => {
        const told = element("p", { class: "problem note", role: "alert" });
        const input = field(label, { name: "typed", type, value, autocomplete: "off", dir: "auto", autofocus: true });
        const submit = (/** @type {Event} */ event) => {
            event.preventDefault();
            const typed = /** @type {HTMLInputElement} */ (input.lastElementChild).value.trim();
            const why = problem(typed);
            if (why) told.textContent = why;
            else end(typed);
        };
        return [text && element("p", { class: "soft" }, text), element("form", { class: "settings-form", onsubmit: submit }, input, told,
            element("div", { class: "buttons buttons-even" },
                button("Cancel", () => end(null)), element("button", { class: "button button-primary", type: "submit" }, action)))];
    });

/** @param {string} typed */
export const vaultNameProblem = (typed) => (typed === "" ? "A vault needs a name."
    : [...typed].length > longestVaultName ? "This name is too long; use fewer letters." : null);

/** @param {Context} context */
async function create(context) {
    const name = await asked(context, "New shared vault", "You invite others after that. Its name is sealed: only who belongs to it reads it.", {
        label: "Name", value: "Ours", action: "Create", problem: vaultNameProblem,
    });
    if (!name) return;
    context.tell("Making the vault…", { milliseconds: 30_000 });
    try {
        const { id } = await context.companion.vaults.create(name);
        await chooseVault(context.companion, id);
        context.tell("The vault is there. Now invite somebody.");
        context.go(`settings/vaults?vault=${id}`);
    } catch (error) {
        context.tell(sentenceOf(error));
    }
}

/** @param {Context} context */
async function paste(context) {
    const link = await asked(context, "Join by an invitation", "Ask for the link, or scan it with this device’s camera. It works once, for five minutes.", {
        label: "The invitation’s link", type: "url", action: "Continue",
        problem: (typed) => (typed.includes("#vault=") ? null : "This is not an invitation to a vault; it has “#vault=” in it."),
    });
    if (link) location.hash = link.slice(link.indexOf("#vault="));
}

/**
 * Asks by the invitation that opened the page.
 * @param {Context} context
 * @param {string} link
 */
function joinCard(context, link) {
    const { companion, signal } = context;
    const problem = element("p", { class: "problem note", role: "alert" });
    const waiting = element("p", { class: "soft note", role: "status" });
    const name = field("Your name for the others", { name: "own", value: companion.device.paired.name, autocomplete: "off", dir: "auto" });
    const submit = element("button", { class: "button button-primary button-wide", type: "submit" }, "Ask to come in");
    const away = button("Not now", () => {
        forgetInvitation();
        context.go("settings/vaults", { replace: true });
    }, { wide: true, kind: "plain" });
    const join = async (/** @type {Event} */ event) => {
        event.preventDefault();
        const ownName = /** @type {HTMLInputElement} */ (name.lastElementChild).value.trim();
        problem.textContent = ownName === "" ? "The others need a name to know you by." : bytesOf(ownName) > longestName ? "This name is too long; use fewer letters." : "";
        if (problem.textContent) return;
        submit.disabled = true;
        try {
            const { id } = await companion.vaults.join(link, {
                ownName, signal, waiting: () => {
                    waiting.textContent = "Now the other one has to agree: their device shows your name and asks. Stay here.";
                },
            });
            forgetInvitation();
            await chooseVault(companion, id);
            if (signal.aborted) return;
            context.tell("You are in");
            context.go(`settings/vaults?vault=${id}`, { replace: true });
        } catch (error) {
            if (signal.aborted) return;
            problem.textContent = sentenceOf(error);
            submit.disabled = false;
        }
        waiting.textContent = "";
    };
    return card(element("h2", { class: "section-title" }, "You are invited to a shared vault"),
        element("p", { class: "soft note" }, "You and the others read and change all of it. The invitation works once, for five minutes."),
        element("form", { class: "settings-form", onsubmit: join }, name, submit, away, waiting, problem));
}

