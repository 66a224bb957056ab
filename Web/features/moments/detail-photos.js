// A moment's photos side by side. All have thumbnails; the current one and its neighbours are loaded larger.
import { element } from "../../ui/element.js";
import { iconButton } from "../../ui/parts.js";
import { describePhoto, viewMomentPhoto } from "./detail-viewer.js";
import { MediumPictures } from "./medium-photos.js";
import { kindBadge, kindOf } from "../../ui/recording-words.js";
import { isTiny, limitSize, thumbnails } from "./thumbnails.js";

/** @typedef {import("./moments.js").Moment} Moment */

/** Limits of the stage's width by height: high for portraits, flat for panoramas. */
const [tallest, flattest] = [3 / 4, 16 / 9];

/**
 * @param {Context} context its signal ends with the photos
 * @param {() => Moment} momentNow it has at least one photo, and always the same ones
 * @returns {HTMLElement}
 */
export function carousel(context, momentNow) {
    const { signal } = context;
    const { photos } = momentNow();
    const describe = (/** @type {number} */ index) => describePhoto(momentNow(), index);
    const loader = thumbnails(context);
    const medium = new MediumPictures(context);
    let current = 0;
    const slides = photos.map((photo, index) => {
        const [behind, small, large] = ["moment-slide-behind", "moment-slide-small", "moment-slide-large"].map((name) =>
            element("img", { class: name, alt: "", draggable: "false", decoding: "async" }));
        const open = element("button", {
            type: "button", class: "moment-slide-open",
            "aria-label": `${kindOf(photo) === "photo" ? "Zoom" : "Play"} ${kindOf(photo)} ${index + 1} of `
                + photos.length,
            onclick: () => viewer(index),
        }, behind, small, large, kindBadge(photo));
        const slide = element("li", { class: "moment-slide", "aria-label": describe(index) }, open);
        limitSize(slide, photo);
        loader.watch(slide, photo.id, small);
        // Shown twice: beside a portrait are its own colours.
        if (!isTiny(photo)) new MutationObserver(() => {
            const source = small.getAttribute("src");
            if (source) behind.setAttribute("src", source);
            else behind.removeAttribute("src");
        }).observe(small, { attributes: true, attributeFilter: ["src"] });
        return { photo, slide, large };
    });
    const viewer = (/** @type {number} */ first) =>
        viewMomentPhoto(context, momentNow(), first, (index) => turnTo(index, "auto"));
    const strip = element("ul", {
        class: "moment-slides", tabindex: photos.length > 1 ? 0 : null, "aria-label": "Photos",
    }, ...slides.map(({ slide }) => slide));
    const ratio = photos.map(({ width, height }) => width / height)
        .sort((one, other) => one - other)[photos.length >> 1];
    strip.style.setProperty("--ratio", String(Math.max(tallest, Math.min(flattest, ratio))));

    const dots = element("div", { class: "moment-dots", "aria-hidden": "true" },
        ...(photos.length <= 20 ? photos.map(() => element("span", { class: "moment-dot" })) : []));
    const place = element("span", { class: "moment-count", "aria-live": "polite" });
    const back = iconButton("back", "Previous photo", () => turnTo(current - 1),
        { class: "button button-icon moment-turn moment-turn-back" });
    const forward = iconButton("forward", "Next photo", () => turnTo(current + 1),
        { class: "button button-icon moment-turn moment-turn-forward" });

    const turnTo = (/** @type {number} */ index, /** @type {ScrollBehavior} */ behavior = "smooth") => {
        const to = Math.max(0, Math.min(photos.length - 1, index));
        const calm = matchMedia("(prefers-reduced-motion: reduce)").matches ? "auto" : behavior;
        strip.scrollTo({
            left: slides[to].slide.offsetLeft - strip.offsetLeft, behavior: /** @type {ScrollBehavior} */ (calm),
        });
        if (calm === "auto") show(to);
    };
    const show = (/** @type {number} */ index) => {
        current = index;
        place.textContent = photos.length > 1 ? `${index + 1} of ${photos.length}` : "";
        back.disabled = index === 0;
        forward.disabled = index === photos.length - 1;
        for (const [other, dot] of [...dots.children].entries()) {
            dot.classList.toggle("moment-dot-here", other === index);
        }
        medium.show(slides.slice(Math.max(0, index - 1), index + 2)
            .map(({ photo, large }) => ({ id: photo.id, image: large })), photos[index].id);
    };
    strip.addEventListener("scroll", () => {
        const index = Math.round(strip.scrollLeft / Math.max(1, strip.clientWidth));
        if (index !== current && slides[index]) show(index);
    }, { signal, passive: true });
    strip.addEventListener("keydown", (event) => {
        const step = { ArrowLeft: -1, ArrowRight: 1, Home: -photos.length, End: photos.length }[event.key];
        if (!step) return;
        event.preventDefault();
        turnTo(current + step);
    }, { signal });
    show(0);
    return element("div",
        { class: "moment-photos", role: "group", "aria-roledescription": "carousel", "aria-label": "Photos" }, strip,
        photos.length > 1 && back, photos.length > 1 && forward, photos.length > 1 && dots, photos.length > 1 && place);
}
