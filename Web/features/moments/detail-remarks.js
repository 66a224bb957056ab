// Comments and reactions below a moment. In an own vault they are notes to oneself, so that without any there is one
// button alone.
import { maximumText, reactionKinds } from "../../formats/remark-format.js";
import { dismantle, element, keyed } from "../../ui/element.js";
import { icon } from "../../ui/icon.js";
import { live } from "../../ui/live.js";
import { badge, button, iconButton } from "../../ui/parts.js";
import { dayAndTime, isVisible, named, sentenceOf } from "../../ui/words.js";

/** @typedef {import("./moments.js").Moment} Moment */
/** @typedef {import("./remark-index.js").Remark} Remark */
/** @typedef {import("./remark-index.js").ShownComment} ShownComment */
/** @typedef {import("./remark-index.js").ReactionKind} ReactionKind */
/** @typedef {ReturnType<import("./remark-index.js").RemarkIndex["shown"]>} Shown */

/** @type {Record<ReactionKind, [label: string, icon: import("../../ui/icon.js").IconName]>} */
const looks = {
    heart: ["Love", "heart"], laugh: ["Funny", "laugh"], wow: ["Wow", "wow"], sad: ["Sad", "frown"],
    thanks: ["Thank you", "flower"],
};

/** How long the page waits for them, in milliseconds: thousands are opened one by one after unlocking. */
const patience = 300;

/** @param {Context} context @param {Moment} moment as it is now */
export async function remarksOf(context, moment) {
    const { companion, signal } = context;
    const view = new RemarksView(context, moment, await companion.moments.remarks());
    await Promise.race([live(companion, ["remarks", "devices", "keys"], () => view.read(), signal),
        new Promise((resolve) => setTimeout(resolve, patience))]);
    return view.element;
}

class RemarksView {
    #context;
    #moment;
    #remarks;
    #isShared;
    #isOpen = false;
    /** @type {(author: string) => string} */
    #nameOf = (author) => author;
    #reactions = element("div", { class: "remark-reactions", role: "group", "aria-label": "Reactions" });
    #list = element("ul", { class: "remark-list", "aria-label": "Comments" });
    #text = element("textarea", {
        class: "input remark-text", rows: 1, maxlength: maximumText, dir: "auto", "aria-label": "Your comment",
        placeholder: "Write a comment", oninput: () => this.#typed(),
    });
    #send = element("button", { class: "button button-primary", type: "submit", disabled: true }, "Send");
    #form = element("form", { class: "remark-form", onsubmit: (/** @type {Event} */ event) => this.#submit(event) },
        this.#text, this.#send);
    #begin = button("Add a comment", () => this.#open(), { kind: "plain", icon: "comment" });

    /** @param {Context} context @param {Moment} moment @param {import("./remarks.js").Remarks} remarks */
    constructor(context, moment, remarks) {
        this.#context = context;
        // Without its content: the question before leaving stays reachable for longer than the page.
        this.#moment = { id: moment.id, vault: moment.vault, removed: moment.removed };
        this.#remarks = remarks;
        this.#isShared = remarks.isShared;
        this.element = element("section", {
            class: "remarks", "aria-label": "Comments and reactions", hidden: true,
        },
            this.#reactions, this.#list, this.#form, this.#begin);
        context.signal.addEventListener("abort", () => {
            this.#text.value = "";
            for (const part of [this.#reactions, this.#list]) dismantle(part);
        }, { once: true });
        context.beforeLeaving(() => !isVisible(this.#text.value) || this.#mayLeave());
    }

    #mayLeave() {
        return this.#context.ask({
            title: "Discard your comment?", text: "It was not sent.", action: "Discard", isDanger: true,
        });
    }

    /** Nothing is written on a moment in the trash. */
    async read() {
        const index = await this.#remarks.index();
        this.#nameOf = await this.#remarks.authorNames();
        return () => {
            const shown = index.shown(this.#moment);
            const isTrash = this.#moment.removed !== undefined;
            const isQuiet = !this.#isOpen && shown.comments.length === 0 && shown.reactions.size === 0
                && (isTrash || !this.#isShared);
            this.element.hidden = isQuiet && isTrash;
            this.#begin.hidden = !isQuiet;
            this.#form.hidden = isQuiet || isTrash;
            this.#reactions.hidden = isQuiet || (isTrash && shown.reactions.size === 0);
            this.#list.hidden = shown.comments.length === 0;
            this.#drawReactions(shown);
            keyed(this.#list, shown.comments, ({ id }) => id, (comment) => this.#comment(comment),
                (comment) => `${comment.signature} ${comment.isWaiting} ${comment.problem} ${this.#author(comment)}`);
        };
    }

    #open() {
        this.#isOpen = true;
        this.#begin.hidden = true;
        this.#reactions.hidden = this.#form.hidden = false;
        this.#text.focus();
    }

    /** @param {Remark} remark */
    #author(remark) {
        return remark.isOwn ? "You" : this.#nameOf(remark.author);
    }

    /** @param {Shown} shown */
    #drawReactions({ reactions }) {
        const all = reactionKinds.map((kind) => ({ kind, by: [...reactions.get(kind)?.values() ?? []] }));
        keyed(this.#reactions, all, ({ kind }) => kind, ({ kind, by }) => {
            const [label, picture] = looks[kind];
            const isOwn = by.some((one) => one.isOwn);
            const authors = by.map((one) => this.#author(one)).join(", ");
            return element("button", {
                type: "button", class: "remark-reaction", "aria-pressed": String(isOwn),
                "aria-label": by.length === 0 ? label : `${label}, ${by.length}: ${authors}`,
                title: authors ? `${label}: ${authors}` : label, disabled: this.#moment.removed !== undefined,
                onclick: () => this.#react(kind, !isOwn),
            }, icon(picture), this.#isShared && by.length > 0
                && element("span", { "aria-hidden": "true" }, by.length));
        }, ({ by }) => by.map((one) => `${one.id} ${this.#author(one)}`).join());
    }

    /** @param {ShownComment} comment */
    #comment(comment) {
        const { text, at, from, isOwn, isWaiting, problem } = comment;
        const author = this.#isShared ? this.#author(comment) : "";
        const by = from ? [author, `from ${named(from)}`].filter(Boolean).join(", ") : author;
        return element("li", { class: "remark" },
            element("div", { class: "remark-head" },
                by && element("strong", { class: "remark-author", dir: "auto" }, by),
                element("time", { class: "soft", datetime: new Date(at * 1000).toISOString() }, dayAndTime(at)),
                problem ? badge("Not accepted by the hub", "danger")
                    : isWaiting && element("span", { class: "remark-waiting", title: "Not sent yet" }, icon("cloud"),
                        element("span", { class: "visually-hidden" }, "Not sent yet"))),
            element("p", { class: "remark-words", dir: "auto" }, text),
            isOwn && this.#moment.removed === undefined && iconButton("trash", "Delete this comment",
                () => this.#remove(comment), { class: "button button-icon remark-delete" }));
    }

    #typed() {
        this.#send.disabled = !isVisible(this.#text.value);
    }

    /** @param {Event} event */
    async #submit(event) {
        event.preventDefault();
        const text = this.#text.value.trim();
        if (!isVisible(text) || this.#send.disabled) return;
        // Turned off it would lose the focus to the next button, which is a reaction.
        if (document.activeElement === this.#send) this.#text.focus();
        this.#send.disabled = true;
        await this.#doing(async () => {
            await this.#remarks.comment(this.#moment, text);
            // What was typed meanwhile stays.
            if (this.#text.value.trim() === text) this.#text.value = "";
        });
        this.#typed();
    }

    /** @param {ReactionKind} kind @param {boolean} isOn */
    #react(kind, isOn) {
        return this.#doing(() => this.#remarks.react(this.#moment, kind, isOn));
    }

    /** @param {Remark} comment */
    async #remove(comment) {
        const isSure = await this.#context.ask({
            title: "Delete this comment?", action: "Delete", isDanger: true,
            text: this.#isShared ? "It is deleted for all members. This can’t be undone." : "This can’t be undone.",
        });
        if (isSure) await this.#doing(() => this.#remarks.remove(comment));
    }

    /** @param {() => Promise<unknown>} change */
    async #doing(change) {
        await change().catch((error) => {
            if (!this.#context.signal.aborted) this.#context.toast(sentenceOf(error));
        });
    }
}
