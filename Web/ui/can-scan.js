// Whether this browser can read codes with the camera (scan.js): Chromium on Android and macOS.
export const canScan = () => "BarcodeDetector" in window && navigator.mediaDevices !== undefined;
