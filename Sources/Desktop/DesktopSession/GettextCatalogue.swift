import CGettext
import Foundation
public import Localization

/// The translations that GNU gettext finds for the locale of the session.
public struct GettextCatalogue: Catalogue {
    private static let domain = "applocker"
    /// GNU libc's own.
    private static let systemDomain = "libc"

    /// Opens the catalogue for this process, also for the screens that GTK builds. To be called as the program starts.
    ///
    /// - Parameter programs: the directory of AppLocker's programs. A build has its catalogues beside them.
    public static func install(programs: String) {
        // Outside programs that change their user, gettext accepts a path here, and with it anybody's catalogue.
        if ProcessInfo.processInfo.environment["LANGUAGE"]?.contains("/") == true { unsetenv("LANGUAGE") }
        setlocale(LC_ALL, "")
        let ofBuild = programs + "/locale"
        bindtextdomain(domain, access(ofBuild + "/.", R_OK) == 0 ? ofBuild : "/usr/share/locale")
        bind_textdomain_codeset(domain, "UTF-8")
        textdomain(domain)
        bind_textdomain_codeset(systemDomain, "UTF-8")
        InstalledCatalogue.install(GettextCatalogue())
    }

    public func translation(_ id: String, context: String?) -> String? {
        // An empty message is the catalogue's header.
        guard !id.isEmpty else { return nil }
        // How msgfmt stores a context (GNU gettext manual, "Contexts").
        let key = context.map { "\($0)\u{4}\(id)" } ?? id
        return key.withCString { key in
            // The argument itself where there is no translation.
            guard let found = dgettext(Self.domain, key), found != key else { return nil }
            return String(cString: found)
        }
    }

    public func translation(_ id: String, plural: String, number: UInt) -> String? {
        id.withCString { id in
            plural.withCString { plural in
                guard let found = dngettext(Self.domain, id, plural, number), found != id, found != plural else {
                    return nil
                }
                return String(cString: found)
            }
        }
    }

    /// Not every text that GNU libc translates: an app or a device can be called "Stopped".
    private static let systemErrors: Set<String> = {
        guard let english = newlocale(1 << LC_MESSAGES, "C", nil) else { return [] }
        defer { freelocale(english) }
        return Set((1..<134).compactMap { number in strerror_l(number, english).map { String(cString: $0) } })
    }()

    public func systemMessage(_ text: String) -> String? {
        guard Self.systemErrors.contains(text) else { return nil }
        return text.withCString { text in
            guard let found = dgettext(Self.systemDomain, text), found != text else { return nil }
            return String(cString: found)
        }
    }
}
