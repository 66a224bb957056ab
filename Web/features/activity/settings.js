// The log of the vault: what was done with it, on which device, by days.
import { alertKinds } from "./audit.js";
import { groupBy } from "../../household/group-by.js";
import { element } from "../../ui/element.js";
import { live } from "../../ui/live.js";
import { banner, button, row, rows, section, switchRow, tile } from "../../ui/parts.js";
import { counted, dayName, sentenceOf, timeOfDay } from "../../ui/words.js";
import { amounts, deviceNames, kindOf } from "./words.js";

/** @typedef {import("./audit.js").AuditLine} AuditLine */

const [first, more] = [100, 200];
const labels = {
    unlocked: "AppLocker is unlocked on this device",
    wrongPIN: "A wrong PIN is entered on this device",
    exported: "Everline is exported on this device",
};

/** @param {Context} context @param {Vault | null} vault */
export async function auditPage({ companion, signal, toast }, vault) {
    const list = element("div", { class: "settings-parts" });
    const problem = element("div", { hidden: true });
    const chosen = new Set(await companion.audit.alerts());
    let limit = first;
    const longer = button("Show more", () => {
        limit += more;
        update();
    }, { wide: true, hidden: true });
    const read = async () => {
        const found = await Promise.all([companion.audit.list({ limit }), deviceNames(companion)]).catch((error) => {
            if (!signal.aborted) toast(sentenceOf(error));
        });
        if (!found) return null;
        const [{ lines, missing, isAll }, name] = found;
        return () => {
            problem.hidden = missing === 0;
            problem.replaceChildren(banner("warning", "danger", element("p", {},
                `${counted(missing, "entry", "entries")} of this log ${missing === 1 ? "is" : "are"} missing or ` +
                    `changed. The hub is withholding entries, or somebody removed them with one of your devices.`)));
            longer.hidden = isAll;
            list.replaceChildren(...[...groupBy(lines, ({ at }) => dayName(at))]
                .map(([day, own]) => section(day, [rows(...own.map((line) => lineOf(line, name)))])));
        };
    };
    const update = await live(companion, ["audit", "devices"], read, signal);
    return {
        title: "Activity",
        body: [
            problem,
            // Only the own vault's entries are about this device's PIN, and notify.
            !vault && section("Notify my other devices when", [rows(...alertKinds.map((kind) => switchRow({
                title: labels[kind], checked: chosen.has(kind),
                change: async (isOn, input) => {
                    if (isOn) chosen.add(kind);
                    else chosen.delete(kind);
                    try {
                        await companion.audit.setAlerts([...chosen]);
                    } catch (error) {
                        input.checked = !isOn;
                        if (!signal.aborted) toast(sentenceOf(error));
                    }
                },
            })))], {
                foot: "Your other devices show a notification immediately, and the details once they are unlocked. "
                    + "A wrong PIN is reported at the next unlock of this device.",
            }),
            list, longer,
        ],
    };
}

/** @param {AuditLine} line @param {(id: string) => string} name */
function lineOf(line, name) {
    const { words, icon, mood } = kindOf(line);
    return row({
        start: tile(icon, mood), title: words, note: [name(line.device), amounts(line)].filter(Boolean).join(" · "),
        end: element("time", { class: "numbers soft", datetime: new Date(line.at * 1000).toISOString() },
            timeOfDay(line.at)),
    });
}
