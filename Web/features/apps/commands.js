// Commands about one app, each after the PIN or the passkey.
import { button, field, searchField, switchRow } from "../../ui/parts.js";
import { element, keyed } from "../../ui/element.js";
import { choose, sheet } from "../../ui/sheet.js";
import { named } from "../../ui/words.js";
import { appGrants, grantWords } from "../../ui/grants.js";

/** @typedef {import("../../formats/record-bodies.js").RemoteApp} RemoteApp */
/** @typedef {import("../../ui/command-progress.js").CommandProgress} CommandProgress */
/** @typedef {{ id: string, name: string }} Named */

/** The computer accepts no more. */
const maximumCategories = 32;
/** Apps that could be added and are listed; a search finds the others. */
const shownOthers = 60;

/** @param {Context} context @param {Named} computer @param {RemoteApp} app @param {CommandProgress} progress */
export async function unlockApp(context, computer, app, progress) {
    if (!progress.mayBegin()) return;
    const grant = await choose(`Unlock ${named(app.name)} for…`, appGrants, context.signal);
    if (!grant) return;
    const isSure = await context.confirmUnlock({
        title: `Unlock ${named(app.name)}?`, text: `It can be started on ${named(computer.name)} ${grantWords(grant)}.`,
        action: "Unlock",
    });
    if (isSure) await progress.send(computer.id, computer.name, { unlockApp: { app: app.id, grant } });
}

/** @param {Context} context @param {Named} computer @param {RemoteApp} app @param {CommandProgress} progress */
export async function lockApp(context, computer, app, progress) {
    if (!progress.mayBegin()) return;
    const isSure = await context.confirmUnlock({
        title: `Lock ${named(app.name)}?`, action: "Lock",
        text: `Its unlock on ${named(computer.name)} ends now. The next start requires the passcode.`,
    });
    if (isSure) await progress.send(computer.id, computer.name, { lockApp: { app: app.id } });
}

/** @param {Context} context @param {Named} computer @param {RemoteApp} app @param {CommandProgress} progress */
export async function removeApp(context, computer, app, progress) {
    if (!progress.mayBegin()) return null;
    const isSure = await context.confirmUnlock({
        title: `Remove ${named(app.name)} from the list?`,
        text: `It then starts without a passcode on ${named(computer.name)}. Its own passcode and schedule are ` +
            `deleted.`,
        action: "Remove",
    });
    return isSure ? progress.send(computer.id, computer.name, { removeApp: { app: app.id } }) : null;
}

/**
 * @param {Context} context
 * @param {Named} computer
 * @param {RemoteApp} app
 * @param {string[]} known all that the computer has
 * @param {CommandProgress} progress
 */
export async function changeCategories(context, computer, app, known, progress) {
    if (!progress.mayBegin()) return;
    const chosen = new Set(app.categories);
    const all = [...new Set([...known, ...app.categories])];
    const picked = await sheet("Categories", context.signal, (/** @type {(answer: string[]) => void} */ end) => {
        const list = element("div", { class: "card rows" });
        const name = field("New category", { name: "category", maxlength: 40, autocomplete: "off", dir: "auto" });
        const input = /** @type {HTMLInputElement} */ (name.lastElementChild);
        const add = () => {
            const typed = input.value.trim();
            if (!typed || chosen.size >= maximumCategories) return;
            if (!all.includes(typed)) all.push(typed);
            chosen.add(typed);
            input.value = "";
            draw();
        };
        const draw = () => {
            list.hidden = all.length === 0;
            keyed(list, all, (one) => one, (one) => switchRow({
                title: one, checked: chosen.has(one), change: (checked) =>
                    void (checked ? chosen.add(one) : chosen.delete(one)),
            }), (one) => `${one} ${chosen.has(one)}`);
        };
        draw();
        return [list, element("form", {
            class: "apps-new", onsubmit: (/** @type {Event} */ event) => {
                event.preventDefault();
                add();
            },
        }, name, element("button", { type: "submit", class: "button" }, "Add")),
        element("div", { class: "buttons buttons-even" }, button("Cancel", () => end(app.categories)),
            button("Save", () => {
                // Includes a name that was typed and not added.
                add();
                end([...chosen]);
            }, { kind: "primary" }))];
    });
    if (!picked || [...picked].sort().join("\n") === [...app.categories].sort().join("\n")) return;
    const isSure = await context.confirmUnlock({
        title: "Save the categories?",
        text: `${named(app.name)} on ${named(computer.name)}: ${picked.map(named).join(", ") || "none"}. A ` +
            `category’s schedule applies if the app has no schedule of its own.`, action: "Save",
    });
    if (isSure) await progress.send(computer.id, computer.name, { setCategories: { app: app.id, categories: picked } });
}

/** @param {Context} context @param {Named} computer @param {Named[]} others @param {CommandProgress} progress */
export async function addApp(context, computer, others, progress) {
    if (!progress.mayBegin()) return;
    const app = await sheet("Lock another app", context.signal, (/** @type {(answer: Named | null) => void} */ end) => {
        const list = element("div", { class: "card rows apps-others" });
        const status = element("p", { class: "soft note", role: "status" });
        const draw = (words = "") => {
            const wanted = words.toLocaleLowerCase().trim();
            const found = others.filter(({ id, name }) => `${name}\n${id}`.toLocaleLowerCase().includes(wanted));
            keyed(list, found.slice(0, shownOthers), ({ id }) => id,
                (other) => element("button", { type: "button", class: "row", onclick: () => end(other) },
                    element("span", { class: "row-text" },
                        element("span", { class: "row-title", dir: "auto" }, other.name))));
            list.hidden = found.length === 0;
            status.textContent = others.length === 0
                ? "This computer has not reported other installed apps. Add one there with “applocker add”."
                : found.length === 0 ? "No app has this name."
                : found.length > shownOthers ? `${found.length} apps; type a name to filter them.`
                : `${found.length} apps.`;
        };
        draw();
        return [others.length > 0 && searchField("Search installed apps", draw),
            status, list, button("Cancel", () => end(null), { kind: "plain", wide: true })];
    });
    if (!app) return;
    const isSure = await context.confirmUnlock({
        title: `Lock ${named(app.name)}?`,
        text: `It is added to the list of ${named(computer.name)} and requires the passcode from now on.`,
        action: "Add",
    });
    if (isSure) await progress.send(computer.id, computer.name, { addApp: { app: app.id } });
}
