// Parts of the moments' screens, with the events that a screen receives.
import { UploadState } from "/features/moments/detail-uploads.js";
import { eventually } from "./harness.js";

export const tests = {
    async aPhotoSentByAnotherTabIsNotShownAsPending() {
        let isWaiting = true;
        const companion = Object.assign(new EventTarget(), {
            momentPhotos: { status: async () => ({ isWaiting, problem: null }) }, syncLoop: { connection: "live" },
        });
        const shown = new UploadState({ companion, signal: new AbortController().signal });
        // Its moment was sent before.
        shown.show({ photos: [{ id: "1".repeat(32) }], isWaiting: false, problem: null });
        await eventually(() => shown.element.textContent.includes("Uploading 1 photo"),
            "the photo is shown as pending");
        isWaiting = false;
        companion.dispatchEvent(new CustomEvent("changed", { detail: [`photos/${"1".repeat(32)}`] }));
        await eventually(() => shown.element.hidden, "the message disappears");
    },
};
