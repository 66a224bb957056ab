import SystemTestSupport
import TestSupport
import Testing

/// The pages in the style that the desktop's setting for high contrast asks for. With `APPLOCKER_PICTURES` each has a
/// picture.
@Suite(.windowSession) struct HighContrastTests {
    @Test(arguments: ["prefer-light", "prefer-dark"]) func eachPageIsShownInHighContrast(_ scheme: String) async throws
    {
        let session = try await WindowSession(
            settings: ["ADW_DEBUG_HIGH_CONTRAST": "1", "ADW_DEBUG_COLOR_SCHEME": scheme])
        try await session.startWindow()
        let pages = [
            ("alt+1", "No app is locked"), ("alt+2", "No app is locked yet"),
            ("alt+3", "Each event names the one before it"), ("alt+8", "A hub passes sealed records"),
            ("alt+9", "Make Recovery Sheet"), ("alt+0", "An unlock lasts"),
        ]
        for (key, words) in pages {
            try await session.press(keys: key)
            try await session.awaitWords(words)
            try await session.photograph("contrast-\(scheme)-\(key.suffix(1))")
        }
        try await session.openVault(on: "alt+6", shows: "No moments")
        try await session.photograph("contrast-\(scheme)-6")
        for (key, words) in [("alt+4", "No notes yet."), ("alt+5", "No files"), ("alt+7", "No photos")] {
            try await session.press(keys: key)
            try await session.awaitWords(words)
            try await session.photograph("contrast-\(scheme)-\(key.suffix(1))")
        }
    }
}
