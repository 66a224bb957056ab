import ControlAPI

extension SharedVaultReport {
    /// Its name in a sentence.
    var named: String { name.isEmpty ? "the vault \(id.prefix(8))" : "\"\(name)\"" }

    /// For `--vault`: two vaults can have one name, but not one id.
    var reference: String { name.isEmpty ? String(id.prefix(8)) : name }

    private var stateText: String {
        switch state {
        case .waiting: "waiting for a member"
        case .member: isConnected ? "connected" : "not connected"
        case .removed: "removed by a member"
        }
    }

    /// The columns of a row: id, name, state, changes that the hub lacks, members.
    func cells(idLength: Int) -> [String] {
        [
            String(id.prefix(idLength)), name, stateText, waiting == 0 ? "" : String(waiting),
            members.joined(separator: ", "),
        ]
    }

    /// While this computer waits for a member.
    func comparison(_ paint: Paint) -> String? {
        guard state == .waiting, let words else { return nil }
        return "The device that invited shows three words. Compare: "
            + paint.strong(words.joined(separator: " ").terminalSafe)
    }

    /// What is asked before this computer leaves it.
    func leavingQuestion(forgets: Bool) -> String {
        guard state != .waiting else { return "Withdraw the request to join \(named)?" }
        var sentences = ["Leave \(named)?", "Its moments and photos are removed from this computer."]
        if state == .member {
            sentences.append(
                members.count == 1
                    ? "No other member is shown: they may be lost."
                    : "The other members keep everything.")
        }
        if waiting > 0 { sentences.append("\(counted(waiting, "change")) not sent yet will be lost.") }
        if forgets, state == .member { sentences.append("The others continue to see this computer as a member.") }
        return sentences.joined(separator: " ")
    }

    var leftSentence: String {
        state == .waiting ? "The request to join \(named) is withdrawn." : "This computer has left \(named)."
    }

    /// - Throws: `CommandLineError` if this computer is not a member.
    func requireMember() throws(CommandLineError) {
        let reason: String
        switch state {
        case .member: return
        case .waiting:
            reason = "No member has confirmed this computer for \(named) yet. Confirm it on the device that invited."
        case .removed:
            reason = "Another member removed this computer from \(named). A member has to invite it again."
        }
        throw CommandLineError(.refused, code: "not_a_member", reason)
    }
}

extension SharedVaultList {
    func lines(_ paint: Paint) -> [String] {
        guard !vaults.isEmpty else {
            return [
                "This computer is in no shared vault; `applocker moments join` joins one by the invitation that a "
                    + "member's phone shows (Settings, Vaults)."
            ]
        }
        let length = shownIDLength(vaults.map(\.id))
        var table = Table(["ID", "NAME", "STATE", "NOT SENT", "MEMBERS"])
        for vault in vaults { table.add(vault.cells(idLength: length)) }
        return table.lines(paint) + vaults.compactMap { $0.comparison(paint) }
            + vaults.compactMap { vault in
                vault.problem.map { paint.warning("\(vault.named): \($0)".terminalSafe) }
            }
    }
}
