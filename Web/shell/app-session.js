// Shows the screens while the companion is unlocked, and one page in every other state.
import { consumePairingLink, forgetPairingLink } from "../features/pairing/pairing-link.js";
import { invitation, readInvitation } from "../features/vaults/invitation.js";
import { appIdentity, endPanic, pageTitle, resetIdentity } from "../ui/app-identity.js";
import { toast } from "../ui/toast.js";
import { showStartFailure } from "./start-failure.js";

const vaultAddress = "settings/vaults?invited";
/** The states in which a pairing link is used. */
const unpaired = ["new", "lost", "revoked"];

export class AppSession {
    #companion;
    #root;
    /** @type {typeof import("./paired.js") | null} null until a page of a paired device is shown */
    #paired = null;
    /** @type {import("./frame.js").Frame | null} */
    #frame = null;
    /** The pairing link that opened the page, until it is used. */
    #link;
    #shown = "";
    #page = new AbortController();
    /** The owner asked why the data was lost or erased. */
    #isAsked = false;

    /**
     * @param {Companion} companion
     * @param {HTMLElement} root
     * @param {string | null} link
     */
    constructor(companion, root, link) {
        this.#link = link;
        this.#companion = companion;
        this.#root = root;
        companion.addEventListener("state", () => {
            if (companion.state === "choosingPIN") this.#link = null;
            this.show();
        });
        window.addEventListener("hashchange", () => this.#followLink());
        if (invitation()) this.#answerInvitation();
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
        const now = this.isDisguised ? `${state}, disguised` : state;
        if (now === this.#shown && !this.#link) return;
        if (!unpaired.includes(state)) forgetPairingLink();
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
                this.#paired = await import("./paired.js");
                if (!signal.aborted) this.#drawPaired(this.#paired, state, signal);
            }
        } catch (error) {
            if (!signal.aborted) showStartFailure(this.#root, error);
        }
    }

    /** @param {Companion["state"]} state @param {AbortSignal} signal */
    async #drawEntry(state, signal) {
        const { dataLost, revoked, welcome } = await import("../features/pairing/welcome.js");
        if (signal.aborted) return;
        const page = state === "lost" ? dataLost : state === "revoked" ? revoked : welcome;
        const shown = await page(this.#companion, this.#link, signal);
        if (!signal.aborted) this.#place(shown);
    }

    /** @param {typeof import("./paired.js")} paired @param {Companion["state"]} state @param {AbortSignal} signal */
    #drawPaired({ chooseFirstPIN, disguisedLockScreen, lockScreen, startPaired }, state, signal) {
        const companion = this.#companion;
        this.#frame ??= startPaired(companion, this.#root);
        if (state === "unlocked") {
            this.#frame.open();
            if (invitation()) this.#frame.router.go(vaultAddress);
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
        if (readInvitation()) this.#answerInvitation();
        const link = consumePairingLink();
        if (!link) return;
        this.#link = unpaired.includes(this.#companion.state) ? link : null;
        if (this.#link) this.show();
    }

    #answerInvitation() {
        const { state } = this.#companion;
        if (state === "unlocked") this.#frame?.router.go(vaultAddress);
        else if (state === "new" && appIdentity() === "applocker")
            toast(
                "This is an invitation to a shared vault. Pair this device with a computer first, then open it again.",
                { milliseconds: 20_000 });
    }
}
