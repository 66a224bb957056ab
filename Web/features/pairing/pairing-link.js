// The pairing link in the page's address.
import { readLink } from "../../crypto/invitation.js";
import { pageSetting, setPageSetting } from "../../store/page-settings.js";
import { isIOSTab } from "../../ui/ios-tab.js";

let staysInTab = false;

/** Whether an app on the Home Screen is to be paired instead of this tab. */
export const installsFirst = () => isIOSTab(navigator) && !staysInTab;

/** Pairs this tab after all. */
export function stayInTab() {
    staysInTab = true;
    forgetPairingLink();
}

/**
 * The pairing link in the address, once: its secret is removed from there. Where the app is installed first, it stays,
 * because the installed app begins at this address.
 */
export function consumePairingLink() {
    if (!location.hash.startsWith("#pair=")) return null;
    const link = location.href;
    if (!installsFirst()) forgetPairingLink();
    return idOf(link) !== null && idOf(link) === pageSetting("usedLink") ? null : link;
}

export function forgetPairingLink() {
    if (location.hash.startsWith("#pair=")) history.replaceState(null, "", "/");
}

/**
 * An app that was installed with a link begins with it each time.
 * @param {string} link
 */
export const markUsed = (link) => setPageSetting("usedLink", idOf(link));

/**
 * The invitation's id, which the hub knows; null if it can't be read.
 * @param {string} link
 */
function idOf(link) {
    try {
        return readLink(link).id;
    } catch {
        return null;
    }
}
