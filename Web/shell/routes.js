// The screens by address. Each is loaded when it is first shown, so that the lock screen starts faster.
import { addStylesheets } from "../ui/stylesheets.js";

const everline = ["vault", "everline", "everline-moment", "everline-remarks", "everline-editor",
    "everline-statistics"];

/**
 * @template Module
 * @param {string[]} stylesheets
 * @param {Promise<Module>} module
 */
const styled = async (stylesheets, module) => (await Promise.all([module, addStylesheets(stylesheets)]))[0];

/** @param {Companion} companion */
const waiting = async (companion) => (await companion.household.launches()).length;

/** @type {Route[]} the first is home */
export const routes = [
    {
        address: "home", label: "Home", icon: "home", inTabs: true, count: waiting, counted: ["requests", "status"],
        screen: async (context) => (await import("../features/home/screen.js")).home(context),
    },
    {
        address: "alerts", label: "Alerts", icon: "bell", inTabs: true, needsComputer: true,
        screen: async (context) => (await import("../features/alerts/screen.js")).alerts(context),
    },
    {
        address: "apps", label: "Apps", icon: "apps", inTabs: true, needsComputer: true,
        screen: async (context) => (await import("../features/apps/screen.js")).apps(context),
    },
    {
        address: "notes", label: "Notes", icon: "note", inTabs: true,
        screen: async (context) => (await styled(["vault"], import("../features/notes/screen.js"))).notes(context),
    },
    {
        address: "moments", label: "Everline", icon: "heart", inTabs: true,
        screen: async (context) => (await styled(everline, import("../features/moments/screen.js"))).moments(context),
    },
    {
        address: "photos", label: "Intruder photos", icon: "photo", inTabs: false, needsComputer: true,
        screen: async (context) =>
            (await styled(["vault"], import("../features/intruder-photos/screen.js"))).intruderPhotos(context),
    },
    {
        address: "settings", label: "Settings", icon: "settings", inTabs: true,
        screen: async (context) =>
            (await styled(["recovery"], import("./settings-pages.js"))).settingsScreen(context),
    },
];

/** @type {Record<string, AppScreen>} not in the tabs */
export const untabbedRoutes = {
    launch: async (context) => (await import("../features/launches/screen.js")).launch(context),
    // The shortcut on the Home Screen.
    lock: (context) => {
        context.go("home", { replace: true });
        context.companion.lock();
        return { title: "AppLocker", body: [] };
    },
};
