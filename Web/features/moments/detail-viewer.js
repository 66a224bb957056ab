// One photo full screen: zoomed by two fingers or a double tap, the next one by a swipe or a key. A tap hides what is
// over it, a swipe down closes it. A video or a voice note has the browser's player over its picture.
import { isRecording } from "../../formats/moment-format.js";
import { controllerWithin } from "../../ui/abort.js";
import { dismantle, element } from "../../ui/element.js";
import { closeModal, showModal } from "../../ui/modal.js";
import { iconButton } from "../../ui/parts.js";
import { named, sentenceOf } from "../../ui/words.js";
import { animation, mayMove } from "./animation.js";
import { MediumPictures } from "./medium-photos.js";
import { kindName, kindOf } from "../../ui/recording-words.js";
import { shareMoment } from "./share.js";
import { nameOf, shortDay } from "./timeline-card.js";
import { limitSize } from "./thumbnails.js";
import { zoomable } from "../../ui/zoom.js";

/** @typedef {import("./moments.js").Moment} Moment */

/**
 * For a screen reader.
 * @param {Moment} moment
 * @param {number} index
 */
export const describePhoto = (moment, index) => [...new Set([
    `${kindName(moment.photos[index])} ${index + 1} of ${moment.photos.length}`,
    named(moment.photos[index]?.description ?? ""),
    named(nameOf(moment)), shortDay(moment),
].filter(Boolean))].join(", ");

/**
 * @param {Context} context
 * @param {Moment} moment
 * @param {number} first
 * @param {(last: number) => void} left where the person was when it was closed
 */
export function viewMomentPhoto(context, moment, first, left) {
    const { photos } = moment;
    const ended = controllerWithin(context.signal);
    const { signal } = ended;
    let index = first;
    let hasTurned = false;
    /** @type {string | null} */
    let url = null;
    /** Of the player that is shown, if there is one. */
    let played = new AbortController();
    const small = element("img", { class: "moment-view-small", alt: "", draggable: "false" });
    const large = element("img", { class: "moment-view-large", alt: "", draggable: "false" });
    // An animation over its still picture, which is the one with a description.
    const moving = element("img", { class: "moment-view-moving", alt: "", draggable: "false" });
    const all = element("div", { class: "moment-view-picture" }, small, large, moving);
    const message = element("p", { class: "moment-view-message", role: "status" });
    // Hidden from screen readers, which read it with the photo.
    const words = element("p", { class: "moment-view-words", dir: "auto", "aria-hidden": "true" });
    const stage = element("div", { class: "moment-view-stage" }, all);
    const medium = new MediumPictures({ ...context, signal }, {
        failed: (_, error) => (message.textContent = `Showing the thumbnail. ${sentenceOf(error)}`),
    });
    const animations = new MediumPictures({ ...context, signal }, {
        triesAgain: false, dropsUndecodable: true,
        read: (id, options) => animation(context.companion.momentPhotos, id, options.signal),
    });
    const place = element("span", { role: "status" });
    const sharing = iconButton("share", "Share or save this photo",
        () => shareMoment({ ...context, signal }, moment, [photos[index]]));
    const back = iconButton("back", "Previous photo", () => turn(-1));
    const forward = iconButton("forward", "Next photo", () => turn(1));
    /** @type {HTMLDialogElement} */
    const dialog = element("dialog", { class: "moment-view", "aria-label": "Photo" },
        stage, element("div", { class: "moment-view-bar" }, iconButton("cross", "Close", () => closeModal(dialog)),
            element("p", { class: "moment-view-place" }, place,
                element("span", { class: "caption" }, shortDay(moment))),
            sharing, back, forward),
        element("div", { class: "moment-view-foot" }, words, message));

    const forget = () => {
        small.removeAttribute("src");
        if (url) URL.revokeObjectURL(url);
        url = null;
    };
    async function show() {
        const { id } = photos[index];
        limitSize(all, photos[index]);
        forget();
        whole();
        played.abort();
        dialog.classList.remove("moment-view-playing");
        medium.show([]);
        animations.show([]);
        message.textContent = "";
        back.hidden = forward.hidden = photos.length === 1;
        back.disabled = index === 0;
        forward.disabled = index === photos.length - 1;
        place.textContent = photos.length > 1 ? `${index + 1} of ${photos.length}` : "";
        large.alt = describePhoto(moment, index);
        sharing.title = `Share or save this ${kindOf(photos[index])}`;
        sharing.setAttribute("aria-label", sharing.title);
        words.textContent = (photos[index].description ?? "").slice(0, 2_000);
        medium.show([{ id, image: large }], id);
        if (mayMove() && !photos[index].kind) animations.show([{ id, image: moving }]);
        void play(id);
        const bytes = await context.companion.momentPhotos.thumbnail(id).catch(() => null);
        if (!bytes || signal.aborted || photos[index]?.id !== id) return;
        forget();
        url = URL.createObjectURL(new Blob([bytes], { type: "image/jpeg" }));
        bytes.fill(0);
        small.src = url;
    }

    /**
     * By its record: an older app may have dropped from the moment that it is a recording.
     * @param {string} id
     */
    async function play(id) {
        const { momentPhotos } = context.companion;
        const facts = await momentPhotos.facts(id).catch(() => null);
        if (!facts || !isRecording(facts.original.type) || signal.aborted || photos[index]?.id !== id) return;
        const { recordingPlayer } = await import("./recording-player.js");
        if (signal.aborted || photos[index]?.id !== id) return;
        played = controllerWithin(signal);
        const isBegun = !hasTurned;
        dialog.classList.add("moment-view-playing");
        stage.after(recordingPlayer(momentPhotos,
            { id, isSound: facts.original.type.startsWith("audio/"), label: describePhoto(moment, index), isBegun },
            { signal: played.signal, failed: (sentence) => (message.textContent = sentence) }));
    }

    /** @param {1 | -1} step */
    function turn(step) {
        if (!photos[index + step]) return;
        hasTurned = true;
        index += step;
        show();
    }

    const whole = zoomable(stage, all, turn, signal, {
        tapped: () => dialog.classList.toggle("moment-view-bare"), pulledDown: () => closeModal(dialog),
    });
    dialog.addEventListener("keydown", (event) => {
        // The arrows wind a recording.
        if (event.target instanceof HTMLMediaElement) return;
        if (event.key === "ArrowLeft") turn(-1);
        else if (event.key === "ArrowRight") turn(1);
    }, { signal });
    dialog.addEventListener("close", () => {
        const wasOpen = !context.signal.aborted;
        forget();
        ended.abort();
        dismantle(dialog);
        large.alt = "";
        if (wasOpen) left(index);
    }, { once: true });
    signal.addEventListener("abort", () => closeModal(dialog), { once: true });
    showModal(dialog);
    show();
}
