// Shows the screen of the address, and restores where it was scrolled to.
import { pageTitle } from "../ui/app-identity.js";
import { dismantle, element } from "../ui/element.js";
import { isClosing, isPassing } from "../ui/modal.js";
import { button, empty, iconButton } from "../ui/parts.js";
import { ask } from "../ui/sheet.js";
import { toast } from "../ui/toast.js";
import { sentenceOf } from "../ui/words.js";
import { confirmUnlock } from "../features/lock-screen/confirm-unlock.js";

export class Router {
    #shown = new AbortController();
    /** @type {Map<string, number>} where each screen was scrolled to */
    #scrolled = new Map();
    #address = "";
    /**
     * The shown address, and whether it may be left.
     * @type {{ own: string, mayLeave: () => true | Promise<boolean> } | null}
     */
    #kept = null;

    /**
     * @param {Companion} companion
     * @param {HTMLElement} main where the screens are shown
     * @param {Route[]} routes
     * @param {Record<string, AppScreen>} untabbedRoutes
     * @param {(name: string) => void} showing called with the first part of the address
     */
    constructor(companion, main, routes, untabbedRoutes, showing) {
        this.companion = companion;
        this.main = main;
        this.routes = routes;
        this.untabbedRoutes = untabbedRoutes;
        this.showing = showing;
    }

    /** @param {AbortSignal} signal */
    open(signal) {
        window.addEventListener("hashchange", (event) => this.#follow(event), { signal });
        this.#leaveForeign().then(() => this.#show());
    }

    close() {
        this.#shown.abort();
        this.#scrolled.clear();
    }

    /** An address may be from a session of another PIN: it must not reveal another vault. */
    async #leaveForeign() {
        const opened = location.hash;
        // Unless the person went elsewhere meanwhile.
        const leave = (/** @type {string} */ address) =>
            void (location.hash === opened && history.replaceState(null, "", `#/${address}`));
        // It would reveal that the owner looked at this page.
        if (location.hash.startsWith("#/settings/decoy")) return leave("settings");
        const [, vault] = /^#\/settings\/vaults\?vault=(.*)/.exec(location.hash) ?? [];
        if (vault) {
            if (!(await this.companion.vaults.has(vault).catch(() => false))) leave("settings/vaults");
            return;
        }
        const [, name, id] = /^#\/(notes|moments|photos)\/([0-9a-f]{32})\b/.exec(location.hash) ?? [];
        if (!id) return;
        const isOwn = await this.companion.hasRecord(name === "photos" ? "intruders" : name, id).catch(() => false);
        if (!isOwn) leave(name);
    }

    /** @param {string} address @param {{ replace?: boolean }} options */
    go(address, { replace = false } = {}) {
        if (!replace) location.hash = `#/${address}`;
        else {
            history.replaceState(history.state, "", `#/${address}`);
            this.#show();
        }
    }

    /**
     * Called after the address changed.
     * @param {HashChangeEvent} event
     */
    async #follow({ oldURL }) {
        if (isPassing()) return;
        // A screen that was replaced beside the entry of a dialog stays: the entry below has its predecessor's address.
        if (isClosing()) return history.replaceState(history.state, "", new URL(oldURL).hash);
        const [wanted, kept, { signal }] = [location.hash, this.#kept, this.#shown];
        const answer = !kept || wanted === kept.own || kept.mayLeave();
        if (answer !== true) {
            // Screen and address stay until the person has answered.
            history.pushState(null, "", kept?.own);
            if (!(await answer) || signal.aborted) return;
            history.replaceState(history.state, "", wanted);
        }
        this.#show();
    }

    /** @returns {object | null} null while AppLocker is locked */
    get #session() {
        return this.companion.state === "unlocked" ? this.companion.unlockedSession : null;
    }

    async #show() {
        const session = this.#session;
        if (!session) return;
        this.#kept = null;
        const [path, query] = location.hash.replace(/^#\/?/, "").split("?");
        const [name, ...parts] = path.split("/").map(decoded);
        const route = this.routes.find(({ address, needsComputer }) =>
            address === name && (!needsComputer || this.companion.hasComputer));
        const screen = this.untabbedRoutes[path] ?? route?.screen ?? this.untabbedRoutes[name];
        if (!screen) return this.go(this.routes[0].address, { replace: true });
        this.#scrolled.set(this.#address, window.scrollY);
        this.#shown.abort();
        this.#shown = new AbortController();
        const { signal } = this.#shown;
        /** @type {Context} */
        const context = {
            companion: this.companion, signal, parts, query: new URLSearchParams(query),
            // What ends after a lock shows nothing on the lock screen, nor in a session of another PIN.
            toast: (sentence, options) => void (this.#session === session && toast(sentence, options)),
            go: (address, options) => this.go(address, options),
            ask: (question) => ask(question, signal),
            confirmUnlock: (question) => confirmUnlock(this.companion, question, signal),
            beforeLeaving: (mayLeave) => {
                if (!signal.aborted) this.#kept = { own: location.hash, mayLeave };
            },
            mayLeave: () => signal.aborted || !this.#kept || this.#kept.mayLeave(),
        };
        this.showing(name);
        const page = await this.#made(screen, context);
        if (signal.aborted) return;
        this.#address = path;
        this.#draw(page, this.#scrolled.get(path) ?? 0);
    }

    /**
     * A screen that fails shows an error; the others stay reachable.
     * @param {AppScreen} screen
     * @param {Context} context
     * @returns {Promise<Page>}
     */
    async #made(screen, context) {
        try {
            return await screen(context);
        } catch (error) {
            // Engines differ in the message.
            const isUnread = error instanceof TypeError && /module/i.test(error.message);
            const text = isUnread
                ? "This screen has not been loaded yet. Connect to the hub, then try again."
                : sentenceOf(error);
            return {
                title: "Screen unavailable",
                body: [empty("warning", "This screen can’t be shown", text, button("Try again", () => this.#show()))],
            };
        }
    }

    /** @param {Page} page @param {number} scrolled */
    #draw({ title, back, actions = [], body }, scrolled) {
        document.title = pageTitle(title);
        const heading = element("h1", { class: "screen-title", tabindex: "-1" }, title);
        const head = element("header", { class: `screen-head${back ? " screen-head-inner" : ""}` },
            back && iconButton("back", "Back", () => this.go(back)), heading, ...actions);
        dismantle(this.main);
        this.main.replaceChildren(head, ...body.flatMap((child) =>
            (child instanceof Node ? [child] : child ? [document.createTextNode(String(child))] : [])));
        // A screen reader begins at the new screen's name, unless a field asked for the focus.
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
