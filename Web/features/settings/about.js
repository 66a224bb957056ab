// The version of the app, and a pending update.
import { appVersion, applyUpdate, checkForUpdate, offline, updates } from "../../workers/registration.js";
import { element } from "../../ui/element.js";
import { redrawing } from "../../ui/live.js";
import { advanced, banner, button, card, row, rows, section, tile } from "../../ui/parts.js";
import { sentenceOf } from "../../ui/words.js";

/** @type {Record<typeof offline.state, [string, string, "good" | "warning" | ""]>} */
const states = {
    ready: ["Works offline", "The app is stored on this device.", "good"],
    starting: ["Storing the app on this device…", "", ""],
    unsupported: ["Needs the network to open", "", "warning"],
    failed: ["Not stored on this device", "", "warning"],
};

/** @type {SettingsPage} */
export async function about({ signal }) {
    const body = element("div", { class: "settings-parts" });
    const status = element("p", { class: "section-foot", role: "status" });
    const hash = element("div", {});
    // Not drawn again, so that it stays unfolded.
    const more = advanced(hash);
    const read = async () => {
        const version = await appVersion();
        return () => {
            const [word, note, mood] = states[offline.state];
            if (version) {
                hash.replaceChildren(section("Hash of its files", [card(
                    element("p", { class: "settings-hash", "aria-label": version.hash },
                        ...(version.hash.match(/.{8}/g) ?? []).flatMap((part) => [element("span", {}, part), " "])),
                    element("p", { class: "soft caption" },
                        "The same on every device with the same files. "
                            + "docs/operations.md describes how to compare it with the package."))]));
            }
            body.replaceChildren(...[
                offline.update && banner("refresh", "", element("p", {},
                    "A new version is ready. Updating reloads every tab of AppLocker, which then asks for the PIN."),
                    element("p", { class: "caption" }, "Its hash begins with ",
                        element("code", {}, offline.update.slice(0, 16)), "."),
                    element("div", { class: "buttons" }, button("Update", () => applyUpdate(), { kind: "primary" }))),
                section("This version", [rows(
                    row({ start: tile("lock"), title: `AppLocker ${version?.version ?? ""}`, note: version
                        ? undefined
                        : "The version is unknown until the app is stored or the hub can be reached." }),
                    row({ start: tile(mood === "good" ? "check" : "warning", mood), title: word, note: offline.problem
                        ?? note }))]),
                version && more,
                button("Check for updates", look, { wide: true, icon: "refresh" }), status,
            ].flatMap((part) => part || []));
        };
    };
    const look = async () => {
        try {
            const isOther = await checkForUpdate();
            if (!signal.aborted) {
                status.textContent = isOther
                    ? "Downloading the new version…"
                    : offline.problem ?? "This is the newest version that the hub serves.";
            }
        } catch (error) {
            if (!signal.aborted) status.textContent = sentenceOf(error);
        }
    };
    const again = redrawing(read, signal);
    for (const kind of ["state", "ready"]) updates.addEventListener(kind, again, { signal });
    updates.addEventListener("failed", (event) => {
        status.textContent = /** @type {CustomEvent<string>} */ (event).detail;
    }, { signal });
    (await read())();
    return { title: "Version and update", body: [body] };
}
