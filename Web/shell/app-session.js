// Shows the screens while the companion is unlocked, and one page in every other state.
import { consumeEntryLink, forgetEntryLink, markUsed } from "../features/pairing/entry-link.js";
import { invitation, keepInvitation } from "../features/vaults/invitation.js";
import { appIdentity, endPanic, pageTitle, resetIdentity } from "../ui/app-identity.js";
import { addStylesheets, pairedStylesheets } from "../ui/stylesheets.js";
import { showStartFailure } from "./start-failure.js";

const vaultAddress = "settings/vaults?invited";
/** The first screen of a device that was just set up. */
const firstAddresses = { founded: "settings/recovery/new", recovered: "settings/devices?recovered" };
/** The states in which a link sets the device up. */
const unpaired = ["new", "lost", "revoked"];

/** @typedef {import("../features/pairing/entry-link.js").EntryLink} EntryLink */

export class AppSession {
    #companion;
    #root;
    /** @type {typeof import("./paired.js") | null} null until a page of a paired device is shown */
    #paired = null;
    /** @type {import("./frame.js").Frame | null} */
    #frame = null;
    /** The link that opened the page, until it is used. */
    #link;
    /** The link that this device is being set up with, until it has a PIN. */
    #begunWith = /** @type {EntryLink | null} */ (null);
    #shown = "";
    #page = new AbortController();
    /** The owner asked why the data was lost or erased. */
    #isAsked = false;

    /**
     * @param {Companion} companion
     * @param {HTMLElement} root
     * @param {EntryLink | null} link
     */
    constructor(companion, root, link) {
        this.#link = link;
        this.#companion = companion;
        this.#root = root;
        this.#keepForUnlocked();
        companion.addEventListener("state", () => {
            this.#followSetUp();
            this.show();
        });
        window.addEventListener("hashchange", () => this.#followLink());
    }

    /** Whether the page looks like another app now. */
    get isDisguised() {
        const { state } = this.#companion;
        if (appIdentity() === "applocker") return false;
        return state === "locked" || ((state === "lost" || state === "revoked") && !this.#link && !this.#isAsked);
    }

    /** Shows the page of the state; resolves when it is drawn. Never throws. */
    async show() {
        const { state } = this.#companion;
        const now = this.isDisguised ? `${state}, ${appIdentity()}` : state;
        if (now === this.#shown && !this.#link) return;
        if (!unpaired.includes(state)) forgetEntryLink();
        if (state === "unlocked") endPanic();
        if (this.#shown !== "" && state === "new") resetIdentity();
        this.#shown = now;
        this.#page.abort();
        this.#page = new AbortController();
        for (const dialog of document.querySelectorAll("dialog")) dialog.remove();
        this.#frame?.close();
        this.#root.replaceChildren();
        const { signal } = this.#page;
        try {
            if (unpaired.includes(state) && !this.isDisguised) await this.#drawEntry(state, signal);
            // In the same task if it was loaded before: in a panic nothing else is painted.
            else if (this.#paired) this.#drawPaired(this.#paired, state, signal);
            else {
                const [paired] = await Promise.all([import("./paired.js"), addStylesheets(pairedStylesheets)]);
                this.#paired = paired;
                if (!signal.aborted) this.#drawPaired(this.#paired, state, signal);
            }
        } catch (error) {
            if (!signal.aborted) showStartFailure(this.#root, error);
        }
    }

    /** @param {Companion["state"]} state @param {AbortSignal} signal */
    async #drawEntry(state, signal) {
        const page = state === "new"
            ? (await import("../features/pairing/welcome.js")).welcome
            : (await import("../features/pairing/ended-page.js"))[state === "lost" ? "dataLost" : "revoked"];
        if (signal.aborted) return;
        const shown = await page(this.#companion, this.#link, signal);
        if (!signal.aborted) this.#place(shown);
    }

    /** @param {typeof import("./paired.js")} paired @param {Companion["state"]} state @param {AbortSignal} signal */
    #drawPaired({ chooseFirstPIN, disguisedLockScreen, lockScreen, startPaired }, state, signal) {
        const companion = this.#companion;
        this.#frame ??= startPaired(companion, this.#root);
        if (state === "unlocked") {
            this.#frame.open();
            const beginning = companion.takeBeginning();
            if (invitation()) this.#frame.router.go(vaultAddress);
            else if (beginning) this.#frame.router.go(firstAddresses[beginning]);
        } else if (this.isDisguised) {
            this.#place(disguisedLockScreen(companion, () => this.#showUndisguised(), signal));
        } else this.#place((state === "choosingPIN" ? chooseFirstPIN : lockScreen)(companion, signal));
    }

    /** @param {HTMLElement} page */
    #place(page) {
        document.title = pageTitle();
        this.#root.replaceChildren(page);
        /** @type {HTMLElement | null} */ (page.querySelector("h1"))?.focus({ preventScroll: true });
    }

    #showUndisguised() {
        this.#isAsked = true;
        endPanic();
        this.show();
    }

    #followLink() {
        const link = consumeEntryLink();
        if (!link) return;
        this.#link = link;
        this.#keepForUnlocked();
        if (this.#link) this.show();
    }

    /** The link of a device that chooses its PIN is used with it, or again if the set-up was left. */
    #followSetUp() {
        const { state } = this.#companion;
        if (state === "choosingPIN" && this.#link) [this.#begunWith, this.#link] = [this.#link, null];
        const begun = this.#begunWith;
        if (!begun || state === "choosingPIN") return;
        this.#begunWith = null;
        if (state !== "unlocked") this.#link = begun.kind === "pair" ? null : begun;
        else if (begun.kind === "vault") keepInvitation(begun.link, true, () => markUsed(begun));
        else if (begun.kind === "start") markUsed(begun);
    }

    /** A device that is set up joins a shared vault once it is unlocked, and needs no other link. */
    #keepForUnlocked() {
        const link = this.#link;
        if (!link || unpaired.includes(this.#companion.state)) return;
        this.#link = null;
        if (link.kind !== "vault") return;
        keepInvitation(link.link, false, () => markUsed(link));
        if (this.#companion.state === "unlocked") this.#frame?.router.go(vaultAddress);
    }
}
