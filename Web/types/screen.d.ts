// Types of every file of the page: the companion session, a screen, and its context.
import type { Companion as CompanionSession } from "../session/companion.js";
import type { Child } from "../ui/element.js";
import type { IconName } from "../ui/icon.js";
import type { Question } from "../ui/sheet.js";

declare global {
    type Companion = CompanionSession;

    /** `signal` aborts when the person leaves the screen or AppLocker is locked, and ends all listeners and pauses. */
    interface Context {
        companion: Companion;
        signal: AbortSignal;
        /** What follows the screen's name in the address: "notes/ID" has ["ID"]. */
        parts: string[];
        /** What follows "?" in the address. */
        query: URLSearchParams;
        /** `address`: "alerts", "notes/ID". */
        go: (address: string, options?: { replace?: boolean }) => void;
        toast: (sentence: string, options?: { undo?: () => unknown, milliseconds?: number }) => void;
        ask: (question: Question) => Promise<boolean>;
        /** Asks for the PIN or the passkey once more. */
        confirmUnlock: (question: Question) => Promise<boolean>;
        /** Asked whenever the address changes, but not by `go` with `replace` or when AppLocker is locked. */
        beforeLeaving: (mayLeave: () => true | Promise<boolean>) => void;
        /** Asks that question, for a screen that replaces this one at its own address. */
        mayLeave: () => true | Promise<boolean>;
    }

    interface Page {
        title: string;
        /** The address of the arrow; without it the screen is one of the tabs. */
        back?: string;
        /** Beside the title. */
        actions?: Child[];
        body: Child[];
    }

    type AppScreen = (context: Context) => Promise<Page> | Page;
    /** One page of the settings: beside the list of pages where there is width for both. */
    type SettingsPage = (context: Context) => Promise<Omit<Page, "actions">> | Omit<Page, "actions">;

    interface Route {
        address: string;
        label: string;
        icon: IconName;
        /** On a phone there is room for six. */
        inTabs: boolean;
        /** Not shown in a household without a computer. */
        needsComputer?: boolean;
        screen: AppScreen;
        count?: (companion: Companion) => Promise<number>;
        /** The collections that `count` depends on. */
        counted?: string[];
    }
}
