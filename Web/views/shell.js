// The frame around the screens: which one is shown, the tabs, and that nothing of them stays when the gate closes.
import { applyUpdate, offline, updates } from "../core/offline.js";
import { isHere } from "../core/drawer.js";
import { pageTitle } from "./disguise.js";
import { dismantle, element } from "./element.js";
import { icon } from "./icon.js";
import { live } from "./live.js";
import { button, empty, iconButton } from "./parts.js";
import { confirmWithGate } from "./gate-question.js";
import { ask } from "./sheet.js";
import { clearToasts, tell } from "./toast.js";
import { sentenceOf } from "./words.js";

/** @typedef {import("../core/companion.js").Companion} Companion */
/**
 * What a screen is given. `signal` is given when the person leaves it or the gate closes: everything that listens or waits
 * ends with it. `parts`: what follows the screen's name in the address, "notes/ID" has ["ID"]. `query`: what follows "?".
 * @typedef {object} Context
 * @property {Companion} companion
 * @property {AbortSignal} signal
 * @property {string[]} parts
 * @property {URLSearchParams} query
 * @property {(address: string, options?: { replace?: boolean }) => void} go "alerts", "notes/ID"
 * @property {(sentence: string, options?: { undo?: () => unknown, milliseconds?: number }) => void} tell
 * @property {(question: import("./sheet.js").Question) => Promise<boolean>} ask
 * @property {(question: import("./sheet.js").Question) => Promise<boolean>} confirmWithGate the gate once more
 * @property {(mayLeave: () => true | Promise<boolean>) => void} beforeLeaving asked when the address changes by whichever way; not
 *   asked by `go` with `replace`, and not when the gate closes
 */
/**
 * `back`: the address that the arrow goes to; without it the screen is one of the tabs. `actions` stand beside the title.
 * @typedef {{ title: string, back?: string, actions?: import("./element.js").Child[], body: import("./element.js").Child[] }} Page
 */
/** @typedef {(context: Context) => Promise<Page> | Page} Screen */
/**
 * `inTabs`: on a phone there is room for six.
 * @typedef {{ address: string, label: string, icon: import("./icon.js").IconName, inTabs: boolean, screen: Screen,
 *   count?: (companion: Companion) => Promise<number>, counted?: string[] }} Place `counted`: the collections that `count` goes by
 */

export class Shell {
    #shown = new AbortController();
    #open = new AbortController();
    /**
     * Where each screen was scrolled to.
     * @type {Map<string, number>}
     */
    #scrolled = new Map();
    #address = "";
    /**
     * Of what is shown: its address, and whether it may be left.
     * @type {{ own: string, mayLeave: () => true | Promise<boolean> } | null}
     */
    #kept = null;

    /**
     * @param {Companion} companion
     * @param {HTMLElement} root
     * @param {Place[]} places the first one is home
     * @param {Record<string, Screen>} others screens without a place in the tabs, by address
     */
    constructor(companion, root, places, others) {
        this.companion = companion;
        this.root = root;
        this.places = places;
        this.others = others;
        this.main = element("main", { class: "screen" });
        this.connection = element("div", { class: "connection", role: "status", hidden: true });
        this.update = element("div", { class: "connection connection-calm", role: "status", hidden: true });
    }

    /** The gate has opened. */
    open() {
        this.#open = new AbortController();
        const { signal } = this.#open;
        this.root.replaceChildren(this.#navigation(), element("div", { class: "frame" }, this.connection, this.update, this.main));
        window.addEventListener("hashchange", () => this.#follow(), { signal });
        this.companion.addEventListener("connection", () => this.#drawConnection(), { signal });
        updates.addEventListener("state", () => this.#drawUpdate(), { signal });
        this.#drawConnection();
        this.#drawUpdate();
        live(this.companion, [...new Set(this.places.flatMap(({ counted }) => counted ?? []))], () => this.#drawCounts(), signal);
        this.#leaveForeign().then(() => this.#show());
    }

    /** An address may be from a session behind another PIN: nothing says then that there is something else. */
    async #leaveForeign() {
        const [, name, id] = /^#\/(notes|moments|photos)\/([0-9a-f]{32})\b/.exec(location.hash) ?? [];
        if (!id) return;
        const isOwn = await isHere(this.companion.device, name === "photos" ? "intruders" : name, id).catch(() => false);
        if (!isOwn) history.replaceState(null, "", `#/${name}`);
    }

    /** The gate has closed: every element that showed something goes, and all that would show more. */
    close() {
        this.#shown.abort();
        this.#open.abort();
        clearToasts();
        dismantle(this.main);
        this.root.replaceChildren();
        this.#scrolled.clear();
        document.title = pageTitle();
    }

    /**
     * @param {string} address
     * @param {{ replace?: boolean }} options
     */
    go(address, { replace = false } = {}) {
        if (!replace) location.hash = `#/${address}`;
        else {
            history.replaceState(null, "", `#/${address}`);
            this.#show();
        }
    }

    #navigation() {
        this.tabs = this.places.map((place) => {
            const count = element("span", { class: "tab-count", hidden: true });
            const link = element("a", { class: `tab${place.inTabs ? "" : " tab-wide"}`, href: `#/${place.address}` },
                icon(place.icon), element("span", {}, place.label), count);
            return { place, link, count };
        });
        return element("nav", { class: "tabs", "aria-label": "Screens" },
            element("div", { class: "brand" }, element("img", { src: "/icons/favicon.svg", alt: "", width: 32, height: 32 }), "AppLocker"),
            ...this.tabs.map(({ link }) => link));
    }

    async #drawCounts() {
        for (const { place, count } of this.tabs ?? []) {
            if (!place.count) continue;
            const number = await place.count(this.companion).catch(() => 0);
            count.hidden = number === 0;
            count.textContent = String(number);
            count.setAttribute("aria-label", `${number} waiting`);
        }
    }

    #drawConnection() {
        const { connection, problem } = this.companion.following;
        const isGone = connection === "removed";
        this.connection.hidden = !isGone && connection !== "waiting";
        if (this.connection.hidden) return;
        this.connection.replaceChildren(icon(isGone ? "warning" : "offline"),
            isGone ? "The hub refuses this device. It may have been removed from the household: look at the computer, with “applocker devices”. What this device has stays here."
                : `Not connected: what you see is what this device has. ${problem ?? ""}`);
    }

    /** Asked, never forced: a note may be half-written. */
    #drawUpdate() {
        this.update.hidden = offline.update === null;
        if (this.update.hidden) return;
        this.update.replaceChildren(icon("refresh"), element("span", { class: "row-text" }, "A new version of AppLocker is ready."),
            button("Update now", () => applyUpdate()));
    }

    /** The address is another one. */
    async #follow() {
        const [wanted, kept, { signal }] = [location.hash, this.#kept, this.#shown];
        const answer = !kept || wanted === kept.own || kept.mayLeave();
        if (answer !== true) {
            // It stays what is shown, in the address too, until the person has answered.
            history.pushState(null, "", kept?.own);
            if (!(await answer) || signal.aborted) return;
            history.replaceState(null, "", wanted);
        }
        this.#show();
    }

    async #show() {
        this.#kept = null;
        const [path, query] = location.hash.replace(/^#\/?/, "").split("?");
        const [name, ...parts] = path.split("/").map(decoded);
        const place = this.places.find(({ address }) => address === name);
        const screen = this.others[path] ?? place?.screen ?? this.others[name];
        if (!screen) return this.go(this.places[0].address, { replace: true });
        this.#scrolled.set(this.#address, window.scrollY);
        this.#shown.abort();
        this.#shown = new AbortController();
        const { signal } = this.#shown;
        /** @type {Context} */
        const context = {
            companion: this.companion, signal, parts, query: new URLSearchParams(query), tell,
            go: (address, options) => this.go(address, options),
            ask: (question) => ask(question, signal),
            confirmWithGate: (question) => confirmWithGate(this.companion, question, signal),
            beforeLeaving: (mayLeave) => {
                if (!signal.aborted) this.#kept = { own: location.hash, mayLeave };
            },
        };
        for (const tab of this.tabs ?? []) {
            if (tab.place.address === name) tab.link.setAttribute("aria-current", "page");
            else tab.link.removeAttribute("aria-current");
        }
        const page = await this.#made(screen, context);
        if (signal.aborted) return;
        this.#address = path;
        this.#draw(page, this.#scrolled.get(path) ?? 0);
    }

    /**
     * A screen that can't be shown says so, and the others stay within reach.
     * @param {Screen} screen
     * @param {Context} context
     * @returns {Promise<Page>}
     */
    async #made(screen, context) {
        try {
            return await screen(context);
        } catch (error) {
            // Every engine says so in other words.
            const isUnread = error instanceof TypeError && /module/i.test(error.message);
            const text = isUnread ? "It has not been loaded yet; it comes when the hub can be reached." : sentenceOf(error);
            return { title: "Not shown", body: [empty("warning", "This screen can’t be shown", text, button("Try again", () => this.#show()))] };
        }
    }

    /**
     * @param {Page} page
     * @param {number} scrolled
     */
    #draw({ title, back, actions = [], body }, scrolled) {
        document.title = pageTitle(title);
        const heading = element("h1", { class: "screen-title", tabindex: "-1" }, title);
        const head = element("header", { class: `screen-head${back ? " screen-head-inner" : ""}` },
            back && iconButton("back", "Back", () => this.go(back)), heading, ...actions);
        dismantle(this.main);
        this.main.replaceChildren(head, ...body.flatMap((child) =>
            (child instanceof Node ? [child] : child ? [document.createTextNode(String(child))] : [])));
        // A screen reader begins at the new screen's name; a field that asked for the focus keeps it.
        if (!this.main.contains(document.activeElement)) heading.focus({ preventScroll: true });
        window.scrollTo(0, scrolled);
    }
}

/** @param {string} part */
function decoded(part) {
    try {
        return decodeURIComponent(part);
    } catch {
        return "";
    }
}
