// Chooses a backup.
import { fileInput } from "../../ui/parts.js";

/**
 * A hidden input to choose a backup with: a button calls its `click`.
 * @param {(file: File) => void} chosen
 */
export const backupInput = (chosen) =>
    fileInput({ accept: ".aplockerbackup,application/octet-stream" }, ([file]) => chosen(file));
