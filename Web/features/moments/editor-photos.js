// The photos, videos and voice notes in the moment editor: chosen, sealed, sorted, removed.
import { CompanionError } from "../../household/errors.js";
import { maximumPhotos } from "../../formats/moment-format.js";
import { element } from "../../ui/element.js";
import { icon } from "../../ui/icon.js";
import { banner, button, fileInput, switchRow } from "../../ui/parts.js";
import { counted, dayName, named, sentenceOf } from "../../ui/words.js";
import { arrange } from "./editor-arrange.js";
import { PhotoProblems } from "./editor-problems.js";
import { recordingButtons, recordingNotice } from "./editor-recordings.js";
import { PhotoTile } from "./editor-tile.js";
import { countedKinds, kindOf } from "../../ui/recording-words.js";

/** @typedef {import("./moment-photos.js").StagedPhoto} StagedPhoto */
/**
 * A sealed photo. `taken` and `position` are from its file; `isNew`: no moment has it yet.
 * @typedef {import("../../formats/moment-format.js").MomentPhoto & { isNew: boolean, taken?: StagedPhoto["taken"],
 *   position?: StagedPhoto["position"] }} ChosenPhoto
 */

export class PhotoTray {
    /** @type {PhotoTile[]} */
    #tiles = [];
    #isSealing = false;
    /** @type {(() => void)[]} */
    #settling = [];
    #previews = Promise.resolve();
    #duplicates = /** @type {{ tile: PhotoTile, duplicate: NonNullable<StagedPhoto["duplicate"]> }[]} */ ([]);
    #context;
    #vault;
    #events;
    #list = element("ul", { class: "editor-grid", "aria-label": "Photos" });
    #status = element("p", { class: "visually-hidden", role: "status" });
    #notices = element("div", { class: "editor-notices", role: "status" });
    #animated = element("div", { class: "editor-notices", role: "status" });
    #recordings = element("div", { class: "editor-notices", role: "status" });
    #microphone = element("div", { class: "editor-notices", role: "alert" });
    #problems = new PhotoProblems(() => this.#events.changed());

    /**
     * @param {Context} context
     * @param {{ photos: ChosenPhoto[], keepsOriginal: boolean, vault: string | undefined }} start
     * @param {{ changed: () => void, refused: () => void, gone: (count: number) => void }} events `gone`: photos that
     *   were kept for a draft, and are no more
     */
    constructor(context, { photos, keepsOriginal, vault }, events) {
        this.#context = context;
        this.#vault = vault;
        this.#events = events;
        this.keepsOriginal = keepsOriginal;
        /** How many of the chosen files did not become photos. */
        this.refused = 0;
        const more = element("li", { class: "editor-more" }, ...this.#adding());
        this.#list.append(more);
        this.element = element("section", { class: "editor-photos", "aria-label": "Photos" }, this.#list,
            this.#microphone, this.#problems.element, this.#animated, this.#recordings, this.#notices, this.#status);
        this.original = element("div", { class: "card rows" }, switchRow({
            title: "Keep original files",
            note: "With camera data, place and anything appended.",
            checked: keepsOriginal, change: (checked) => this.#keepOriginals(checked),
        }));
        arrange(this.#list, context.signal, (from, to) => this.#move(from, to));
        context.signal.addEventListener("abort", () => this.end(), { once: true });
        for (const photo of photos) this.#append(new PhotoTile(photo, null, this.#actions));
        this.#look(this.#tiles);
        this.#drawCount();
    }

    /** @returns {ChosenPhoto[]} */
    get photos() {
        return this.#tiles.flatMap(({ photo }) => photo ?? []);
    }

    /** How many are not sealed yet. */
    get unsealed() {
        return this.#tiles.filter(({ photo }) => !photo).length;
    }

    get count() {
        return this.#tiles.length;
    }

    /** Whether it shows why a file could not be added. */
    get hasProblems() {
        return this.#problems.element.hasChildNodes();
    }

    /**
     * When everything that was chosen is sealed or refused.
     * @returns {Promise<void>}
     */
    settled() {
        return this.unsealed === 0
            ? Promise.resolve()
            : new Promise((/** @type {(value?: any) => void} */ resolve) => this.#settling.push(resolve));
    }

    // Choosing

    #adding() {
        const accept = "image/*,.heic,.avif";
        const add = (/** @type {File[]} */ chosen) => this.add(chosen);
        const files = fileInput({ accept: `${accept},video/*,audio/*`, multiple: true }, add);
        const camera = fileInput({ accept, capture: "environment" }, add);
        return [
            element("button", { type: "button", class: "editor-add", onclick: () => files.click() }, icon("photo"),
                element("span", {}, "Add photos or videos")),
            element("button", { type: "button", class: "editor-add editor-camera", onclick: () => camera.click() },
                icon("camera"),
                element("span", {}, "Take a photo")),
            ...recordingButtons(this.#context.signal, add, this.#microphone), files, camera];
    }

    /** @param {File[]} files */
    add(files) {
        const room = maximumPhotos - this.#tiles.length;
        if (files.length > room) {
            this.#problem(
                `A moment has at most ${maximumPhotos} photos; ${counted(files.length - room, "photo")} left out.`,
                { count: files.length - room });
        }
        const tiles = files.slice(0, Math.max(0, room)).map((file) => new PhotoTile(null, file, this.#actions));
        for (const tile of tiles) this.#append(tile);
        if (tiles.length === 0) return;
        this.#look(tiles);
        this.#changed();
        this.#seal();
    }

    get #actions() {
        return { remove: (/** @type {PhotoTile} */ tile) => this.remove(tile),
            open: (/** @type {PhotoTile} */ tile) => this.#open(tile),
            shift: (/** @type {PhotoTile} */ tile, /** @type {number} */ by) => this.#shift(tile, by) };
    }

    /** @param {PhotoTile} tile */
    #append(tile) {
        this.#tiles.push(tile);
        this.#list.insertBefore(tile.element, this.#list.lastElementChild);
    }

    /**
     * Draws one small picture after the other: a dozen of them in full would fill a phone's memory.
     * @param {PhotoTile[]} tiles
     */
    #look(tiles) {
        const { companion, signal } = this.#context;
        let gone = 0;
        for (const tile of tiles) {
            this.#previews = this.#previews.then(async () => {
                if (signal.aborted || !this.#tiles.includes(tile)) return;
                const isThere = await tile.draw(companion);
                if (isThere || signal.aborted || !tile.photo?.isNew) return;
                gone += 1;
                this.#forget(tile);
            });
        }
        this.#previews.then(() => gone > 0 && !signal.aborted && this.#events.gone(gone));
    }

    // Sealing

    async #seal() {
        if (this.#isSealing) return;
        this.#isSealing = true;
        const { signal } = this.#context;
        // Two at a time, as `MomentPhotos.seal` does it.
        await Promise.all([this.#sealWaiting(), this.#sealWaiting()]);
        this.#isSealing = false;
        if (signal.aborted) return;
        for (const resolve of this.#settling.splice(0)) resolve();
    }

    async #sealWaiting() {
        for (;;) {
            const tile = this.#tiles.find(({ isWaiting }) => isWaiting);
            if (!tile || this.#context.signal.aborted) return;
            await this.#sealOne(tile);
        }
    }

    /** @param {PhotoTile} tile */
    async #sealOne(tile) {
        const { momentPhotos } = this.#context.companion;
        const [file, stop] = [/** @type {File} */ (tile.file), tile.begin()];
        try {
            const photo = await momentPhotos.seal(file, {
                keepsOriginal: this.keepsOriginal, vault: this.#vault, signal: stop,
                progress: (step, share) => tile.step(step, share),
            });
            // Removed meanwhile.
            if (stop.aborted) return void momentPhotos.discard(photo.id).catch(() => {});
            const { id, width, height, hash, taken, position, duplicate, isAnimated, kind, duration } = photo;
            tile.sealed({ id, width, height, hash, taken, position, isNew: true, ...(kind ? { kind } : {}),
                ...(duration ? { duration } : {}) }, isAnimated);
            this.#status.textContent = `${countedKinds(this.photos)} of ${this.#tiles.length} ready`;
            if (tile.isRecording) this.#look([tile]);
            if (duplicate) {
                this.#duplicates.push({ tile, duplicate });
                await this.#drawDuplicates();
            }
            this.#changed();
        } catch (error) {
            if (stop.aborted || this.#context.signal.aborted) return;
            this.#forget(tile);
            const isHopeless = error instanceof CompanionError && error.code === "notPicture";
            this.#problem(`${named(file.name) || "A photo"}: ${sentenceOf(error)}`,
                isHopeless ? {} : { again: () => this.add([file]) });
        }
    }

    /** @param {string} sentence @param {{ count?: number, again?: () => void }} [rest] */
    #problem(sentence, rest) {
        this.refused += 1;
        this.#events.refused();
        this.#problems.add(sentence, rest);
    }

    /** @param {boolean} keeps */
    async #keepOriginals(keeps) {
        this.keepsOriginal = keeps;
        const { momentPhotos } = this.#context.companion;
        // Those whose file is available are sealed again, the other way; earlier ones stay.
        for (const tile of this.#tiles.filter(({ file, isRecording }) => file && !isRecording)) {
            const before = tile.photo;
            tile.again();
            if (before) await momentPhotos.discard(before.id).catch(() => {});
        }
        this.#duplicates = this.#duplicates.filter(({ tile }) => tile.isRecording);
        await this.#drawDuplicates();
        this.#changed();
        this.#seal();
    }

    // What is here already

    async #drawDuplicates() {
        const all = this.#duplicates.filter(({ tile }) => this.#tiles.includes(tile));
        this.#duplicates = all;
        if (all.length === 0) return this.#notices.replaceChildren();
        const sentence = all.length === 1
            ? await this.#whereItIs(all[0])
            : `${all.length} of these files are already in Everline.`;
        if (this.#context.signal.aborted) return;
        const settle = (/** @type {boolean} */ keeps) => {
            this.#duplicates = [];
            this.#notices.replaceChildren();
            if (!keeps) for (const { tile } of all) this.remove(tile, false);
        };
        this.#notices.replaceChildren(banner("photo", "", element("p", { dir: "auto" }, sentence),
            element("div", { class: "buttons" },
                button(all.length === 1 ? "Skip it" : "Skip them", () => settle(false), { kind: "primary" }),
                button(all.length === 1 ? "Keep it" : "Keep them", () => settle(true)))));
    }

    /** @param {{ tile: PhotoTile, duplicate: NonNullable<StagedPhoto["duplicate"]> }} found */
    async #whereItIs({ tile, duplicate }) {
        const begin = `This ${kindOf(tile.photo ?? {})} is already in`;
        const isHere = duplicate.moment === null || this.#tiles.some(({ photo }) => photo?.id === duplicate.photo);
        if (isHere) return `${begin} this moment.`;
        const moment = await this.#context.companion.moments.read(/** @type {string} */ (duplicate.moment))
            .catch(() => null);
        if (!moment) return `${begin} Everline.`;
        const day = dayName(moment.date);
        const trashed = moment.removed === undefined ? "" : ", in the trash";
        return moment.title
            ? `${begin} “${named(moment.title)}” (${day}${trashed}).`
            : `${begin} Everline, on ${day}${trashed}.`;
    }

    // Order

    /** @param {number} from @param {number} to */
    #move(from, to) {
        const [tile] = this.#tiles.splice(from, 1);
        this.#tiles.splice(to, 0, tile);
        this.#list.insertBefore(tile.element, this.#tiles[to + 1]?.element ?? this.#list.lastElementChild);
        this.#changed();
    }

    /** @param {PhotoTile} tile @param {number} by */
    #shift(tile, by) {
        const from = this.#tiles.indexOf(tile);
        const to = Math.min(this.#tiles.length - 1, Math.max(0, from + by));
        if (to === from) return;
        this.#move(from, to);
        tile.focus();
        this.#status.textContent = `Moved to position ${to + 1} of ${this.#tiles.length}`;
    }

    /** @param {PhotoTile} tile */
    async #open(tile) {
        const index = this.#tiles.indexOf(tile);
        const what = await tile.ask(index, this.#tiles.length, this.#context.signal);
        if (what === "describe" && await tile.describe(this.#context.signal)) this.#changed();
        if (what === "first") this.#shift(tile, -index);
        if (what === "earlier") this.#shift(tile, -1);
        if (what === "later") this.#shift(tile, 1);
        if (what === "remove") this.remove(tile);
    }

    /** @param {PhotoTile} tile @param {boolean} [movesFocus] */
    remove(tile, movesFocus = true) {
        const index = this.#tiles.indexOf(tile);
        if (index < 0) return;
        tile.stop();
        this.#forget(tile);
        // A photo of a saved moment is removed when that is saved.
        if (tile.photo?.isNew) this.#context.companion.momentPhotos.discard(tile.photo.id).catch(() => {});
        this.#changed();
        if (!movesFocus) return;
        const next = this.#tiles[Math.min(index, this.#tiles.length - 1)];
        if (next) next.focus();
        else /** @type {HTMLElement | null} */ (this.#list.querySelector(".editor-add"))?.focus();
    }

    /** @param {PhotoTile} tile */
    #forget(tile) {
        this.#tiles = this.#tiles.filter((other) => other !== tile);
        tile.element.remove();
        this.#changed();
        if (this.#duplicates.some((one) => one.tile === tile)) this.#drawDuplicates();
    }

    /** The moment was removed elsewhere, with its photos. */
    forgetOld() {
        for (const tile of [...this.#tiles]) if (tile.photo && !tile.photo.isNew) this.#forget(tile);
    }

    /** Discards photos that no moment has. */
    async discard() {
        for (const tile of this.#tiles) tile.stop();
        const fresh = this.photos.filter(({ isNew }) => isNew);
        await Promise.all(fresh.map(({ id }) => this.#context.companion.momentPhotos.discard(id).catch(() => {})));
    }

    /** Before it is saved, the editor names what will not move. */
    #drawAnimated() {
        const animated = this.#tiles.filter(({ photo, isAnimated }) => photo && isAnimated);
        const [first] = animated;
        const name = animated.length === 1 ? `“${named(first.file?.name ?? "")}” is` : `${animated.length} photos are`;
        const rest = this.keepsOriginal
            ? "Everline shows the first picture, and the animation full screen."
            : "Everline shows the first picture; “Keep original files” keeps the animation.";
        const sentence = animated.length === 0 ? "" : `${name} animated. ${rest}`;
        if (this.#animated.textContent === sentence) return;
        this.#animated.replaceChildren(sentence && banner("photo", "", element("p", { dir: "auto" }, sentence)));
    }

    #drawRecordings() {
        const has = this.#tiles.some(({ photo, isRecording }) => isRecording && (!photo || photo.isNew));
        if (has === this.#recordings.hasChildNodes()) return;
        this.#recordings.replaceChildren(...(has ? [recordingNotice()] : []));
    }

    #changed() {
        this.#drawCount();
        this.#drawRecordings();
        this.#drawAnimated();
        if (this.unsealed === 0) for (const resolve of this.#settling.splice(0)) resolve();
        this.#events.changed();
    }

    #drawCount() {
        this.#list.classList.toggle("editor-grid-empty", this.#tiles.length === 0);
        this.original.hidden = this.#tiles.every(({ isRecording }) => isRecording);
        for (const [index, tile] of this.#tiles.entries()) tile.name(index, this.#tiles.length);
    }

    /** Releases the pictures. */
    end() {
        for (const tile of this.#tiles) tile.end();
        this.#tiles = [];
        this.#duplicates = [];
    }
}
