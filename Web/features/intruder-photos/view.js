// One photo full screen: a swipe or an arrow key shows the next one, a tap hides the controls, a swipe down closes it.
// It is exported or deleted only on purpose.
import { offlineReason } from "../../ui/command-progress.js";
import { element } from "../../ui/element.js";
import { icon } from "../../ui/icon.js";
import { closeModal, showModal } from "../../ui/modal.js";
import { iconButton } from "../../ui/parts.js";
import { shareFile } from "../../ui/share-file.js";
import { dayAndTime, sentenceOf } from "../../ui/words.js";
import { zoomable } from "../../ui/zoom.js";

/** @typedef {import("./intruder-photos.js").Photo} Photo */

/**
 * @param {Context} context
 * @param {() => Photo[]} photos as they are now
 * @param {string} first its id
 * @param {{ describe: (photo: Photo) => string, remove: (photo: Photo) => Promise<boolean> }} actions
 */
export function viewPhoto(context, photos, first, { describe, remove }) {
    const ended = new AbortController();
    const { signal } = ended;
    /** @type {Photo | undefined} */
    let photo = photos().find(({ id }) => id === first);
    /** @type {string | null} */
    let url = null;
    /** @type {Blob | null} */
    let blob = null;
    const image = element("img", { class: "photos-large", alt: "", draggable: "false" });
    const message = element("p", { class: "photos-message", role: "status" });
    const stage = element("div", { class: "photos-stage" }, image, message);
    const when = element("p", { class: "photos-when" });
    const what = element("p", { class: "photos-what", dir: "auto" });
    const place = element("span", { class: "visually-hidden", role: "status" });
    const back = iconButton("back", "Newer photo", () => turn(-1));
    const forward = iconButton("forward", "Older photo", () => turn(1));
    const save = iconButton("share", "Save to this device", () => keep());
    /** @type {HTMLDialogElement} */
    const dialog = element("dialog", { class: "photos-view", "aria-label": "Intruder photo" },
        element("div", { class: "photos-bar" }, iconButton("cross", "Close", () => closeModal(dialog)),
            element("div", { class: "photos-caption" }, when, what), save,
            iconButton("trash", "Delete this photo", () => drop())),
        stage, element("div", { class: "photos-turn" }, back, place, forward));

    const forget = () => {
        if (url) URL.revokeObjectURL(url);
        [url, blob] = [null, null];
        image.removeAttribute("src");
        image.hidden = true;
    };

    async function show() {
        forget();
        whole();
        const shown = photo;
        if (!shown) return closeModal(dialog);
        const all = photos();
        const index = all.findIndex(({ id }) => id === shown.id);
        back.disabled = index <= 0;
        forward.disabled = index < 0 || index >= all.length - 1;
        when.textContent = dayAndTime(shown.time);
        what.textContent = describe(shown);
        place.textContent = `Photo ${index + 1} of ${all.length}`;
        message.textContent = "";
        save.disabled = true;
        // Only a longer wait is shown.
        const slow = setTimeout(() => {
            message.textContent = "Opening…";
        }, 300);
        try {
            const picture = await context.companion.intruderPhotos.picture(shown.id);
            if (signal.aborted || photo !== shown) return picture.fill(0);
            blob = new Blob([picture], { type: "image/jpeg" });
            picture.fill(0);
            url = URL.createObjectURL(blob);
            image.src = url;
            image.alt = `${describe(shown)}, ${dayAndTime(shown.time)}`;
            image.hidden = false;
            save.disabled = false;
            message.textContent = "";
        } catch (error) {
            if (!signal.aborted && photo === shown) message.textContent = sentenceOf(error);
        } finally {
            clearTimeout(slow);
        }
    }

    /** @param {1 | -1} step */
    function turn(step) {
        const all = photos();
        const next = all[all.findIndex(({ id }) => id === photo?.id) + step];
        if (!next) return;
        photo = next;
        show();
    }

    async function keep() {
        if (!photo || !blob) return;
        const name = `intruder-${new Date(photo.time * 1000).toISOString().slice(0, 19).replaceAll(":", "-")}.jpg`;
        const file = new File([blob], name, { type: "image/jpeg" });
        const isSure = await context.ask({
            title: "Save to this device?",
            text: "The copy is not sealed: anybody who opens this device’s photos or files can see it, and backups "
                + "and cloud storage may include it.",
            action: "Save a copy",
        });
        if (!isSure || signal.aborted) return;
        await shareFile(file);
    }

    async function drop() {
        if (!photo) return;
        const all = photos();
        const index = all.findIndex(({ id }) => id === photo?.id);
        const next = all[index + 1] ?? all[index - 1];
        const reason = offlineReason(context.companion);
        if (reason) return void (message.textContent = reason);
        if (!(await remove(photo)) || signal.aborted) return;
        photo = next;
        show();
    }

    const whole = zoomable(stage, image, turn, signal, {
        tapped: () => dialog.classList.toggle("photos-view-bare"), pulledDown: () => closeModal(dialog),
    });
    dialog.addEventListener("keydown", (event) => {
        if (event.key === "ArrowLeft") turn(-1);
        else if (event.key === "ArrowRight") turn(1);
    }, { signal });
    dialog.addEventListener("close", () => {
        forget();
        ended.abort();
    }, { once: true });
    context.signal.addEventListener("abort", () => closeModal(dialog), { once: true, signal });
    showModal(dialog);
    show();
}

/** Shown until the picture is loaded. */
export const placeholder = () => element("span", { class: "photos-none", "aria-hidden": "true" }, icon("camera"));
