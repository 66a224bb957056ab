// Shows the screens while the companion is unlocked, and one page in every other state.
import { disguisedLockScreen } from "../features/disguise/disguised-lock-screen.js";
import { chooseFirstPIN, lockScreen } from "../features/lock-screen/lock-screen.js";
import { dataLost, revoked, welcome } from "../features/pairing/welcome.js";
import { invitation, readInvitation } from "../features/vaults/invitation.js";
import { appIdentity, endPanic, pageTitle, resetIdentity } from "../ui/app-identity.js";
import { toast } from "../ui/toast.js";
import { consumePairingLink } from "./pairing-link.js";

const vaultAddress = "settings/vaults?invited";

export class AppSession {
    #companion;
    #frame;
    #root;
    /** The pairing link that opened the page, until it is used. */
    #link;
    #shown = "";
    #page = new AbortController();
    /** The owner asked why the data was lost or erased. */
    #isAsked = false;

    /**
     * @param {Companion} companion
     * @param {import("./frame.js").Frame} frame
     * @param {HTMLElement} root
     * @param {string | null} link
     */
    constructor(companion, frame, root, link) {
        this.#link = link;
        this.#companion = companion;
        this.#frame = frame;
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

    show() {
        const { state } = this.#companion;
        const now = this.isDisguised ? `${state}, disguised` : state;
        if (now === this.#shown && !this.#link) return;
        if (state === "unlocked") endPanic();
        if (this.#shown !== "" && state === "new") resetIdentity();
        this.#shown = now;
        this.#page.abort();
        this.#page = new AbortController();
        for (const dialog of document.querySelectorAll("dialog")) dialog.remove();
        this.#frame.close();
        if (state === "unlocked") {
            this.#frame.open();
            if (invitation()) this.#frame.router.go(vaultAddress);
            return;
        }
        const page = this.#pageOf(state, this.#page.signal);
        document.title = pageTitle();
        this.#root.replaceChildren(page);
        /** @type {HTMLElement | null} */ (page.querySelector("h1"))?.focus({ preventScroll: true });
    }

    /** @param {Exclude<Companion["state"], "unlocked">} state @param {AbortSignal} signal */
    #pageOf(state, signal) {
        const companion = this.#companion;
        if (this.isDisguised) return disguisedLockScreen(companion, () => this.#showUndisguised(), signal);
        switch (state) {
            case "new": return welcome(companion, this.#link, signal);
            case "choosingPIN": return chooseFirstPIN(companion, signal);
            case "locked": return lockScreen(companion, signal);
            case "lost": return dataLost(companion, this.#link, signal);
            case "revoked": return revoked(companion, this.#link, signal);
        }
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
        this.#link = ["new", "lost", "revoked"].includes(this.#companion.state) ? link : null;
        if (this.#link) this.show();
    }

    #answerInvitation() {
        const { state } = this.#companion;
        if (state === "unlocked") this.#frame.router.go(vaultAddress);
        else if (state === "new" && appIdentity() === "applocker")
            toast(
                "This is an invitation to a shared vault. Pair this device with a computer first, then open it again.",
                { milliseconds: 20_000 });
    }
}
