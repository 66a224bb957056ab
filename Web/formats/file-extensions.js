// The file extensions of photos, videos and voice notes that are saved outside AppLocker.

/**
 * By type, of `pictureTypes` and `recordingTypes`.
 * @type {Record<string, string>}
 */
export const fileExtensions = {
    "image/jpeg": "jpg", "image/png": "png", "image/webp": "webp", "image/gif": "gif", "image/heic": "heic",
    "image/avif": "avif", "video/mp4": "mp4", "video/quicktime": "mov", "video/webm": "webm", "audio/mp4": "m4a",
    "audio/webm": "webm", "audio/mpeg": "mp3", "audio/ogg": "ogg", "audio/wav": "wav",
};
