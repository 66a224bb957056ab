// Browser interfaces that the type checker lacks: WebAuthn's PRF (W3C WebAuthn Level 3, section 10.1.4), trusted types,
// and the badge.
interface PRFInputs {
    eval?: { first: BufferSource; second?: BufferSource };
    evalByCredential?: Record<string, { first: BufferSource; second?: BufferSource }>;
}
interface PRFOutputs {
    enabled?: boolean;
    results?: { first?: ArrayBuffer; second?: ArrayBuffer };
}
interface AuthenticationExtensionsClientInputs {
    prf?: PRFInputs;
}
interface AuthenticationExtensionsClientOutputs {
    prf?: PRFOutputs;
}
interface TrustedScriptURL {}
interface TrustedTypePolicyFactory {
    createPolicy(
        name: string,
        rules: { createScriptURL?: (text: string) => string },
    ): { createScriptURL: (text: string) => string & TrustedScriptURL };
}
declare var trustedTypes: TrustedTypePolicyFactory | undefined;
interface Navigator {
    readonly wakeLock?: { request(kind: "screen"): Promise<{ release(): Promise<void> }> };
    setAppBadge?(count?: number): Promise<void>;
    clearAppBadge?(): Promise<void>;
}
interface WorkerNavigator {
    setAppBadge?(count?: number): Promise<void>;
    clearAppBadge?(): Promise<void>;
}
interface ExtendableEvent {
    addRoutes?(rules: object[]): Promise<void>;
}
// The Shape Detection API, in Chromium on Android and macOS.
declare class BarcodeDetector {
    constructor(options: { formats: string[] });
    detect(image: object): Promise<{ rawValue: string }[]>;
}
// Missing in the type checker's list for workers.
interface AbortController {
    abort(reason?: any): void;
}
interface OffscreenCanvas {
    width: number;
    height: number;
    getContext(kind: "2d", options?: { willReadFrequently: boolean }): {
        fillStyle: string;
        imageSmoothingQuality: "low" | "medium" | "high";
        fillRect(x: number, y: number, width: number, height: number): void;
        drawImage(image: ImageBitmap | OffscreenCanvas, x: number, y: number, width: number, height: number): void;
    } | null;
    convertToBlob(options: { type: string; quality: number }): Promise<Blob>;
}
declare var OffscreenCanvas: { new (width: number, height: number): OffscreenCanvas };
// The File System Access API, only in Chromium; the handles of folders and files are in every browser.
interface FileSystemDirectoryHandle {
    values(): AsyncIterable<FileSystemHandle>;
}
interface FileSystemHandle {
    requestPermission?(wanted: { mode: "read" | "readwrite" }): Promise<PermissionState>;
}
interface FileSystemFileHandle {
    createWritable(): Promise<{ write(bytes: Uint8Array): Promise<void>; close(): Promise<void>; abort(): Promise<void> }>;
}
interface Window {
    showDirectoryPicker?(wanted: { mode: "read" | "readwrite"; id?: string }): Promise<FileSystemDirectoryHandle>;
}
