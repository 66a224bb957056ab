// The ways to begin: a household of this phone, a partner's shared vault, a computer, or a recovery sheet.
import { element } from "../../ui/element.js";
import { entryPage, replacePage } from "../../ui/entry-page.js";
import { redrawing } from "../../ui/live.js";
import { button, row, rows, tile } from "../../ui/parts.js";
import { registration } from "./registration.js";

const startNeeds = {
    open: "For two phones without a computer. It needs nothing else.",
    invitation: "For two phones without a computer. It needs a start link from this hub’s operator.",
    closed: "This hub accepts no new households.",
};

/** @param {Companion} companion @param {AbortSignal} signal */
export function waysPage(companion, signal) {
    const again = () => waysPage(companion, signal);
    const show = (/** @type {() => Promise<HTMLElement>} */ next) => async () => {
        const shown = await next();
        if (!signal.aborted) replacePage(page, shown);
    };
    const founding = (/** @type {import("./founding-page.js").Beginning} */ beginning) => show(async () =>
        (await import("./founding-page.js")).beginningPage(companion, beginning, signal, again));
    const computer = show(async () => (await import("./computer-page.js")).computerPage(signal, again));
    const recovery = show(async () =>
        (await import("./recovery-page.js")).recoveryPage(companion, null, signal, again));
    const typeCode = async () => {
        const { askCode } = await import("../../ui/code-input.js");
        const link = await askCode(signal);
        if (link && !signal.aborted) location.hash = link.slice(link.indexOf("#"));
    };
    const draw = (/** @type {HubAPI.HubRegistration | null} */ admits) => rows(
        row({
            start: tile("heart"), title: "Start Everline", note: startNeeds[admits ?? "open"],
            onclick: admits === "closed" ? undefined : founding("start"),
        }),
        row({
            start: tile("people"), title: "Join my partner",
            note: admits === "closed" ? startNeeds.closed : "It needs your partner’s invitation: a link, or a code to "
                + "scan from their screen or to type.",
            onclick: admits === "closed" ? undefined : founding("join"),
        }),
        row({
            start: tile("computer"), title: "Connect to my computer",
            note: "It needs AppLocker on the computer, which shows a code to scan.", onclick: computer,
        }));
    const ways = element("div", { class: "entry-page-ways" }, draw(null));
    const page = entryPage("Welcome to AppLocker",
        "Moments, notes and photos, sealed on your own devices. The hub that carries them can open none.", ways,
        button("Type a code", typeCode, { kind: "plain", wide: true }),
        button("Use a recovery sheet", recovery, { kind: "plain", wide: true }));
    redrawing(async () => {
        const admits = await registration();
        return admits && (() => ways.replaceChildren(draw(admits)));
    }, signal)();
    return page;
}
