// One launch, opened by a notification. Its address may be from anywhere, so only a tap answers.
import { element } from "../../ui/element.js";
import { everySecond, redrawing, whenChanged } from "../../ui/live.js";
import { button, empty } from "../../ui/parts.js";
import { LaunchCard, outcomeWords } from "../../ui/launch-card.js";

/** @type {AppScreen} */
export async function launch(context) {
    const { companion, signal, parts, query } = context;
    const id = parts[0] ?? "";
    const asked = query.get("answer");
    const prefer = asked === "approve" || asked === "deny" ? asked : null;
    const place = element("div", { class: "launch-place" });
    const home = button("Open Home", () => context.go("home"), { kind: "primary" });
    /** @type {LaunchCard | null} */
    let card = null;
    const read = async () => {
        const found = await companion.household.launch(id);
        const isOver = !found || found.outcome || found.expires <= companion.now();
        return () => {
            // An answered launch stays until it is read.
            if (card?.isAnswered && !card.isRead) return;
            if (!isOver && card?.id === found.id) return;
            card = isOver ? null : new LaunchCard(context, found, prefer);
            place.replaceChildren(card ? card.element : found
                ? empty(found.outcome === "allowed" ? "check" : "clock", "This launch has ended",
                    outcomeWords(found), home)
                : empty("clock", "Launch not found",
                    "It may have ended long ago, or this device has not received it yet. Waiting launches are on Home.",
                    home));
        };
    };
    const update = redrawing(read, signal);
    whenChanged(companion, ["requests"], update, signal);
    everySecond(() => {
        card?.tick();
        if (card?.isRead || (card?.isTimeOver && !card.isAnswered)) update();
    }, signal);
    update();
    const title = prefer === "approve" ? "Approve it?" : prefer === "deny" ? "Deny it?" : "Waiting launch";
    return { title, back: "home", body: [place] };
}
