// Which screens there are. They are read when the gate has opened: whoever stands before it waits for less.

/** @typedef {import("../core/companion.js").Companion} Companion */
/** @typedef {import("../views/shell.js").Screen} Screen */

/** @type {Screen} */
const settings = async (context) => {
    const { settings: first, settingsScreens } = await import("./settings.js");
    return (settingsScreens[["settings", ...context.parts].join("/")] ?? first)(context);
};

/** @param {Companion} companion */
const waiting = async (companion) => (await companion.household.launches()).length;

/**
 * The first is home.
 * @type {import("../views/shell.js").Place[]}
 */
export const places = [
    { address: "home", label: "Home", icon: "home", inTabs: true, count: waiting, counted: ["requests", "status"], screen: async (context) => (await import("./home.js")).home(context) },
    { address: "alerts", label: "Alerts", icon: "bell", inTabs: true, screen: async (context) => (await import("./alerts.js")).alerts(context) },
    { address: "apps", label: "Apps", icon: "apps", inTabs: true, screen: async (context) => (await import("./apps.js")).apps(context) },
    { address: "notes", label: "Notes", icon: "note", inTabs: true, screen: async (context) => (await import("./notes.js")).notes(context) },
    { address: "moments", label: "Everline", icon: "heart", inTabs: true, screen: async (context) => (await import("./moments.js")).moments(context) },
    { address: "photos", label: "Intruder photos", icon: "photo", inTabs: false, screen: async (context) => (await import("./photos.js")).photos(context) },
    { address: "settings", label: "Settings", icon: "settings", inTabs: true, screen: settings },
];

/**
 * Without a place in the tabs.
 * @type {Record<string, Screen>}
 */
export const others = {
    launch: async (context) => (await import("./launch.js")).launch(context),
    // The shortcut on the Home Screen.
    lock: (context) => {
        context.go("home", { replace: true });
        context.companion.lock();
        return { title: "AppLocker", body: [] };
    },
};
