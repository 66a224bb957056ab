/// Apps that most people lock, offered first in the first run.
enum AppSuggestions {
    /// Beginnings of app ids, in lower case: browsers, mail, messengers, photos, money, passwords.
    private static let ids = [
        "firefox", "chromium", "google-chrome", "com.google.chrome", "brave", "com.brave", "opera", "vivaldi",
        "microsoft-edge", "epiphany", "org.gnome.epiphany", "org.mozilla", "librewolf", "torbrowser", "falkon",
        "org.kde.falkon", "thunderbird", "net.thunderbird", "org.gnome.evolution", "evolution", "geary",
        "org.gnome.geary",
        "kmail", "org.kde.kmail", "claws-mail", "signal", "org.signal", "telegram", "org.telegram", "whatsapp",
        "discord", "com.discordapp", "element", "im.riot", "slack", "com.slack", "pidgin", "org.gajim", "dino",
        "im.dino", "fractal", "org.gnome.fractal", "org.gnome.photos", "shotwell", "org.gnome.shotwell", "digikam",
        "org.kde.digikam", "org.kde.gwenview", "org.gnome.eog", "gnucash", "org.gnucash", "kmymoney",
        "org.kde.kmymoney",
        "homebank", "org.keepassxc", "keepassxc", "org.gnome.seahorse", "bitwarden", "com.bitwarden",
    ]

    /// This window's own app, which can't be locked.
    static let own = "org.applocker.AppLocker"

    static func contains(_ id: String) -> Bool {
        let id = id.lowercased()
        return ids.contains { name in
            guard id.hasPrefix(name) else { return false }
            let next = id.dropFirst(name.count).first
            return next == nil || next == "-" || next == "." || next == "_"
        }
    }
}
