// The page that is shown if the app can't be loaded.
import { appIdentity, pageTitle } from "../ui/app-identity.js";
import { element } from "../ui/element.js";
import { detailOf, sentenceOf } from "../ui/words.js";

/** @param {HTMLElement} root @param {unknown} error */
export function showStartFailure(root, error) {
    const texts = appIdentity() === "applocker" ? [sentenceOf(error), detailOf(error)] : ["Try again."];
    root.replaceChildren(element("main", { class: "entry-page" },
        element("h1", { class: "entry-page-title" }, `${pageTitle()} can’t start here`),
        ...texts.filter((text) => text !== "").map((text) => element("p", {}, text)),
        element("button", { class: "button", type: "button", onclick: () => location.reload() }, "Try again")));
}
