import Glibc
import SystemTestSupport
import Testing

@testable import DesktopSession

struct GettextCatalogueTests {
    /// The daemon writes these in English, in parentheses at the end of a sentence.
    @Test(.requires(.path("/usr/share/locale/de/LC_MESSAGES/libc.mo"))) func theSystemsErrorsAreTranslated() async {
        // A process of its own: language and locale are the whole process'.
        await #expect(processExitsWith: .success) {
            setenv("LANGUAGE", "de", 1)
            setenv("LC_ALL", "C.UTF-8", 1)
            GettextCatalogue.install(programs: "/")
            let catalogue = GettextCatalogue()
            #expect(
                catalogue.systemMessage("No space left on device")
                    == "Auf dem Gerät ist kein Speicherplatz mehr verfügbar")
            for name in ["Firefox", "Success", "Stopped", "unknown"] { #expect(catalogue.systemMessage(name) == nil) }
            #expect(catalogue.systemMessage("") == nil)
        }
    }
}
