import ControlAPI

extension PromptReport {
    /// A launch of gnome-calculator from a shell.
    static func sample(
        _ prompt: String = "1", name: String = "Calculator", icon: String? = "org.gnome.Calculator",
        parentName: String? = "bash", userName: String? = "alice", expiresInSeconds: Int = 600,
        defaultGrantSeconds: Int = 300, hasOwnPasscode: Bool = false, startsAgain: Bool = false, lockedFor: Int = 0
    ) -> PromptReport {
        PromptReport(
            prompt: prompt, app: "org.gnome.Calculator", name: name, icon: icon, path: "/usr/bin/gnome-calculator",
            process: 4242, parentName: parentName, user: 1000, userName: userName, expiresInSeconds: expiresInSeconds,
            defaultGrantSeconds: defaultGrantSeconds, hasOwnPasscode: hasOwnPasscode, startsAgain: startsAgain,
            lockout: LockoutState(failures: 0, remainingSeconds: lockedFor))
    }
}
