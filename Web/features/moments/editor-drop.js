// Photos that are dropped on the page, or pasted.

/**
 * @param {HTMLElement} over highlighted while files are dragged over it
 * @param {AbortSignal} signal
 * @param {(files: File[]) => void} add
 */
export function acceptDroppedFiles(over, signal, add) {
    const hasFiles = (/** @type {DragEvent} */ event) => event.dataTransfer?.types.includes("Files") ?? false;
    const show = (/** @type {boolean} */ isOn) => void over.classList.toggle("editor-dropping", isOn);
    // The whole window: elsewhere the browser would open a dropped photo.
    window.addEventListener("dragover", (event) => {
        if (!hasFiles(event)) return;
        event.preventDefault();
        show(true);
    }, { signal });
    window.addEventListener("dragleave", (event) => event.relatedTarget === null && show(false), { signal });
    window.addEventListener("drop", (event) => {
        if (!hasFiles(event)) return;
        event.preventDefault();
        show(false);
        add([...(event.dataTransfer?.files ?? [])]);
    }, { signal });
    document.addEventListener("paste", (event) => {
        const files = [...(event.clipboardData?.files ?? [])];
        if (files.length === 0 || document.querySelector("dialog")) return;
        event.preventDefault();
        add(files);
    }, { signal });
}
