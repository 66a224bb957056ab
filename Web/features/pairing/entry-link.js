// The link in the page's address that a new device begins with: of pairing, of an invitation to a shared vault, of a
// hub's operator, or of a recovery sheet.
import { hex, unbase64url } from "../../crypto/bytes.js";
import { pageSetting, setPageSetting } from "../../store/page-settings.js";
import { isIOSTab } from "../../ui/ios-tab.js";

/** @typedef {"pair" | "vault" | "start" | "recover"} LinkKind */
/** @typedef {{ kind: LinkKind, link: string }} EntryLink */

const pattern = /#(pair|vault|start|recover)=/;
/** Where an invitation's id begins in the bytes of its link; a sheet has none, as it stays valid. */
const placesOfID = { pair: 33, vault: 33, start: 1, recover: null };

let staysInTab = false;

/** Whether an app on the Home Screen is to be set up instead of this tab. */
export const installsFirst = () => isIOSTab(navigator) && !staysInTab;

/** Sets this tab up after all. */
export function stayInTab() {
    staysInTab = true;
    forgetEntryLink();
}

/** @param {string} text @returns {EntryLink | null} */
export function entryLinkIn(text) {
    const [, kind] = pattern.exec(text) ?? [];
    return kind ? { kind: /** @type {LinkKind} */ (kind), link: text } : null;
}

/**
 * The link in the address, once: its secret is removed from there. Where the app is installed first, it stays, because
 * the installed app begins at this address; the secret of a sheet never does.
 */
export function consumeEntryLink() {
    const found = location.hash.search(pattern) === 0 ? entryLinkIn(location.href) : null;
    if (!found) return null;
    if (!installsFirst() || found.kind === "recover") forgetEntryLink();
    const id = idOf(found);
    return id !== null && id === pageSetting("usedLink") ? null : found;
}

export function forgetEntryLink() {
    if (location.hash.search(pattern) === 0) history.replaceState(null, "", "/");
}

/**
 * An app that was installed with a link begins with it each time.
 * @param {EntryLink} link
 */
export const markUsed = (link) => setPageSetting("usedLink", idOf(link));

/**
 * The invitation's id, as at the hub; null if it can't be read.
 * @param {EntryLink} entry
 */
function idOf({ kind, link }) {
    const place = placesOfID[kind];
    const bytes = unbase64url(link.slice(link.indexOf("=", link.search(pattern)) + 1));
    return place !== null && bytes && bytes.length >= place + 16 ? hex(bytes.slice(place, place + 16)) : null;
}
