/// Who can become root, read from the host's account files. Root can turn AppLocker off.
struct RootAccess: Equatable {
    /// Accounts that are root under another name.
    var otherRoots: [String] = []
    /// Users who may become root with their password, by a group.
    var withPassword: [String] = []
    /// Users whose group is equivalent to root, with that group: "anna (docker)".
    var throughGroups: [String] = []
    /// Whom sudo asks no password: the first word of each such rule, with the file.
    var withoutPassword: [String] = []
    /// Files that could not be read.
    var unreadable: [String] = []

    /// Groups whose members sudo or polkit lets become root with their own password.
    static let administrators: Set<String> = ["sudo", "wheel", "admin"]
    /// Groups whose members can do anything root can, without a password.
    static let rootEquivalents: Set<String> = ["docker", "lxd", "incus-admin", "disk"]

    init() {}

    init(_ files: HostFiles) {
        let accounts = Self.lines(of: "/etc/passwd", in: files, unreadable: &unreadable).compactMap(Account.init)
        let groups = Self.lines(of: "/etc/group", in: files, unreadable: &unreadable).compactMap(Group.init)
        otherRoots = accounts.filter { $0.number == 0 && $0.name != "root" }.map(\.name)
        for group in groups {
            let primary = accounts.filter { $0.group == group.number }.map(\.name)
            let members = Set(group.members + primary).subtracting(["root", ""]).sorted()
            if Self.administrators.contains(group.name) { withPassword += members }
            if Self.rootEquivalents.contains(group.name) { throughGroups += members.map { "\($0) (\(group.name))" } }
        }
        withPassword = Set(withPassword).sorted()
        readSudoers(files)
    }

    private struct Account {
        var name: String
        var number: UInt32
        var group: UInt32

        /// One line of passwd(5).
        init?(_ line: Substring) {
            let fields = line.split(separator: ":", omittingEmptySubsequences: false)
            guard fields.count >= 4, let number = UInt32(fields[2]), let group = UInt32(fields[3]) else { return nil }
            (name, self.number, self.group) = (String(fields[0]), number, group)
        }
    }

    private struct Group {
        var name: String
        var number: UInt32
        var members: [String]

        /// One line of group(5).
        init?(_ line: Substring) {
            let fields = line.split(separator: ":", omittingEmptySubsequences: false)
            guard fields.count >= 4, let number = UInt32(fields[2]) else { return nil }
            (name, self.number) = (String(fields[0]), number)
            members = fields[3].split(separator: ",").map { String($0.filter { !$0.isWhitespace }) }
        }
    }

    private static func lines(of path: String, in files: HostFiles, unreadable: inout [String]) -> [Substring] {
        switch files.text(path) {
        case .success(let text): return text.split(separator: "\n").filter { !$0.hasPrefix("#") }
        case .failure(.missing): return []
        case .failure(.unreadable):
            unreadable.append(path)
            return []
        }
    }

    /// sudoers(5) and the files it takes in by default: those of sudoers.d without a dot or a tilde in their name.
    private mutating func readSudoers(_ files: HostFiles) {
        var paths = ["/etc/sudoers"]
        switch files.names(in: "/etc/sudoers.d") {
        case .success(let names):
            paths += names.filter { !$0.contains(".") && !$0.hasSuffix("~") }.map { "/etc/sudoers.d/" + $0 }
        case .failure(.missing): break
        case .failure(.unreadable): unreadable.append("/etc/sudoers.d")
        }
        for path in paths {
            switch files.text(path) {
            case .success(let text): withoutPassword += Self.rulesWithoutPassword(in: text).map { "\($0) (\(path))" }
            case .failure(.missing): break
            case .failure(.unreadable): unreadable.append(path)
            }
        }
    }

    /// Whom each rule with the NOPASSWD tag, or `Defaults !authenticate`, is for. A backslash at the end of a line
    /// joins the next to it.
    static func rulesWithoutPassword(in sudoers: String) -> [String] {
        let lines = sudoers.replacing("\\\n", with: " ").split(separator: "\n")
        return lines.compactMap { line in
            let rule = line.prefix { $0 != "#" }.split(whereSeparator: \.isWhitespace)
            guard let first = rule.first else { return nil }
            if first.hasPrefix("Defaults") {
                return rule.contains { $0.hasPrefix("!authenticate") } ? "everybody in \(first)" : nil
            }
            guard line.prefix(while: { $0 != "#" }).contains("NOPASSWD:"), first != "root" else { return nil }
            return String(first)
        }
    }

    var finding: HostFinding {
        // A sentence each, as catalogues translate them.
        var silent: [String] = []
        if !otherRoots.isEmpty { silent.append("By user number 0: \(otherRoots.joined(separator: ", ")).") }
        if !throughGroups.isEmpty { silent.append("By their group: \(throughGroups.joined(separator: ", ")).") }
        if !withoutPassword.isEmpty { silent.append("By sudo's rules: \(withoutPassword.joined(separator: ", ")).") }
        var rest: [String] = []
        if !withPassword.isEmpty {
            rest.append("With their own password: \(withPassword.joined(separator: ", ")).")
        }
        if !unreadable.isEmpty { rest.append("Not readable: \(unreadable.joined(separator: ", ")).") }
        guard silent.isEmpty else {
            let sentences = ["Users can become root without a password, and so turn AppLocker off."] + silent + rest
            return HostFinding(
                .rootAccess, .degraded, sentences.joined(separator: " "),
                advice: "Remove these rights from users whom AppLocker should stop.")
        }
        guard unreadable.isEmpty else {
            return HostFinding(
                .rootAccess, .unknown,
                (["The list of users who can become root is incomplete."] + rest).joined(separator: " "),
                advice: "Run `sudo applocker doctor` for the full list.")
        }
        return HostFinding(
            .rootAccess, .ok,
            withPassword.isEmpty
                ? "Nobody but root itself can become root."
                : "These users can become root with their own password, and so turn AppLocker off: "
                    + "\(withPassword.joined(separator: ", ")).")
    }
}
