// One launch, as a notification names it. Its address may come from anywhere: it shows, and only a tap answers.
import { element } from "../views/element.js";
import { everySecond, live } from "../views/live.js";
import { button, empty } from "../views/parts.js";
import { LaunchCard, outcomeWords } from "./launch-card.js";

/** @type {import("../views/shell.js").Screen} */
export async function launch(context) {
    const { companion, signal, parts, query } = context;
    const id = parts[0] ?? "";
    const asked = query.get("answer");
    const prefer = asked === "approve" || asked === "deny" ? asked : null;
    const place = element("div", { class: "launch-place" });
    const home = button("Go to Home", () => context.go("home"), { kind: "primary" });
    /** @type {LaunchCard | null} */
    let card = null;
    const show = async () => {
        const found = await companion.household.launch(id);
        const isOver = !found || found.outcome || found.expires <= companion.device.time.now();
        if (signal.aborted) return;
        // What was answered here stays until it is read.
        if (card?.isAnswered && !card.isRead) return;
        if (!isOver && card?.id === found.id) return;
        card = isOver ? null : new LaunchCard(context, found, prefer);
        place.replaceChildren(card ? card.element : found
            ? empty(found.outcome === "allowed" ? "check" : "clock", "It is over", outcomeWords(found), home)
            : empty("clock", "There is no such launch", "It may be over for long, or this device has not heard of it yet. Waiting launches are on Home.", home));
    };
    everySecond(() => {
        card?.tick();
        if (card?.isRead || (card?.isTimeOver && !card.isAnswered)) show().catch(() => {});
    }, signal);
    live(companion, ["requests"], show, signal);
    const title = prefer === "approve" ? "Let it open?" : prefer === "deny" ? "Keep it closed?" : "Waiting launch";
    return { title, back: "home", body: [place] };
}
