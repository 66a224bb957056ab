// The frame around the screens: the tabs, the state of the connection, and updates.
import { pageTitle } from "../ui/app-identity.js";
import { dismantle, element } from "../ui/element.js";
import { icon } from "../ui/icon.js";
import { live, redrawing } from "../ui/live.js";
import { button } from "../ui/parts.js";
import { clearToasts } from "../ui/toast.js";
import { applyUpdate, offline, updates } from "../workers/registration.js";
import { Router } from "./router.js";

export class Frame {
    #open = new AbortController();
    /** @type {{ route: Route, link: HTMLAnchorElement, count: HTMLElement }[]} */
    #tabs = [];
    #main = element("main", { class: "screen" });
    #connection = element("div", { class: "connection", role: "status", hidden: true });
    #update = element("div", { class: "connection connection-calm", role: "status", hidden: true });

    /**
     * @param {Companion} companion
     * @param {HTMLElement} root
     * @param {Route[]} routes those in the tabs; the first one is home
     * @param {Record<string, AppScreen>} untabbedRoutes by address
     */
    constructor(companion, root, routes, untabbedRoutes) {
        this.companion = companion;
        this.root = root;
        this.routes = routes;
        this.router = new Router(companion, this.#main, routes, untabbedRoutes, (name) => this.#mark(name));
    }

    /** Called after unlocking. */
    open() {
        this.#open = new AbortController();
        const { signal } = this.#open;
        this.#tabs = this.routes.map((route) => {
            const count = element("span", { class: "tab-count", hidden: true });
            const link = element("a", { class: `tab${route.inTabs ? "" : " tab-wide"}`, href: `#/${route.address}` },
                icon(route.icon), element("span", { class: "tab-name" }, route.label), count);
            return { route, link, count };
        });
        const navigation = element("nav", { class: "tabs", "aria-label": "Screens" },
            element("div", { class: "brand" },
                element("img", { src: "/icons/favicon.svg", alt: "", width: 32, height: 32 }), "AppLocker"),
            ...this.#tabs.map(({ link }) => link));
        // Not a link: its address would be a screen's.
        const skip = element("button", {
            type: "button", class: "button button-primary skip", onclick: () => this.#main.querySelector("h1")?.focus(),
        }, "Skip to content");
        this.root.replaceChildren(skip, navigation,
            element("div", { class: "frame" }, this.#connection, this.#update, this.#main));
        this.companion.addEventListener("roster", () => this.#drawTabs(), { signal });
        // They move the screen below them.
        this.companion.addEventListener("connection",
            redrawing(async () => () => this.#drawConnection(), signal), { signal });
        updates.addEventListener("state", redrawing(async () => () => this.#drawUpdate(), signal), { signal });
        this.#drawTabs();
        this.#drawConnection();
        this.#drawUpdate();
        live(this.companion, [...new Set(this.routes.flatMap((route) => route.counted ?? []))],
            () => this.#readCounts(), signal);
        this.router.open(signal);
    }

    /** After locking: removes every element that showed content, and all that would show more. */
    close() {
        this.router.close();
        this.#open.abort();
        clearToasts();
        dismantle(this.#main);
        this.root.replaceChildren();
        document.title = pageTitle();
    }

    /** A computer may join, or leave. */
    #drawTabs() {
        for (const { route, link } of this.#tabs) link.hidden = !!route.needsComputer && !this.companion.hasComputer;
    }

    /** @param {string} name of the screen that is shown */
    #mark(name) {
        for (const { route, link } of this.#tabs) {
            if (route.address === name) link.setAttribute("aria-current", "page");
            else link.removeAttribute("aria-current");
        }
    }

    async #readCounts() {
        const tabs = this.#tabs.filter(({ route }) => route.count);
        const numbers = await Promise.all(tabs.map(({ route }) => route.count?.(this.companion).catch(() => 0) ?? 0));
        return () => {
            for (const [index, { count }] of tabs.entries()) {
                count.hidden = numbers[index] === 0;
                count.textContent = String(numbers[index]);
                count.setAttribute("aria-label", `${numbers[index]} waiting`);
            }
        };
    }

    #drawConnection() {
        const { connection, problem } = this.companion.syncLoop;
        const isGone = connection === "removed";
        this.#connection.hidden = !isGone && connection !== "waiting";
        if (this.#connection.hidden) return;
        this.#connection.replaceChildren(icon(isGone ? "warning" : "offline"),
            isGone
                ? `The hub refuses this device. It may have been revoked: check ${this.companion.isPhoneFounded
                    ? "the list of devices on another device"
                    : "with “applocker devices” at the computer"}. This device keeps its data.`
                : `Offline. Showing what is saved here. ${problem ?? ""}`);
    }

    /** Asks before updating: a note may be unsaved. */
    #drawUpdate() {
        this.#update.hidden = offline.update === null;
        if (this.#update.hidden) return;
        this.#update.replaceChildren(icon("refresh"),
            element("span", { class: "row-text" }, "A new version of AppLocker is ready."),
            button("Update now", () => applyUpdate()));
    }
}
