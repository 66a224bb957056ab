import Foundation
public import Household
public import HubAPI
public import SealedFormats

// Requests of a companion: to a computer, and to the hub for itself.
extension Companion {
    /// The computer of this reference: the first digits of its id, or its name; the only computer for nil.
    public func computer(_ reference: String?) throws -> HubID {
        let computers = report().computers
        let fitting = computers.filter { computer in
            reference.map { computer.id.description.hasPrefix($0) || computer.status.name == $0 } ?? true
        }
        if fitting.count == 1 { return fitting[0].id }
        if computers.isEmpty, reference == nil { return HubID(state.computer) }
        throw CompanionError(
            fitting.isEmpty ? "There is no such computer." : "Name the computer: there are \(fitting.count).")
    }

    /// Seals and signs a command, with the computer's clock as estimated now.
    public func sealed(_ action: RemoteAction, to computer: HubID, id: ItemID = .random()) throws -> HubRecord {
        let issued = state.clocks[computer]?.now(clock()) ?? clock()
        return try secrets.seal(
            RemoteCommand(computer: computer, issued: issued, action: action), .commands, id, revision: 1)
    }

    /// Sends a command and waits for its result. If the computer's clock differs from the estimate, the command is sent
    /// once more.
    /// - Throws: `CompanionError` if the computer does not answer in time.
    public func command(
        _ action: RemoteAction, to computer: HubID, patience: Duration = .seconds(120)
    ) async throws -> CommandReply {
        let reply = try await attempt(action, computer, patience)
        guard reply.state == .refused, reply.reason == "too_old" || reply.reason == "too_early" else { return reply }
        state.clocks[computer, default: ComputerClock()].correct(reply.clock, at: clock())
        return try await attempt(action, computer, patience)
    }

    private func attempt(
        _ action: RemoteAction, _ computer: HubID, _ patience: Duration
    ) async throws -> CommandReply {
        let record = try sealed(action, to: computer)
        try await send(record)
        return try await withThrowingTaskGroup(of: CommandReply?.self) { group in
            group.addTask { try await self.reply(to: record.id, from: computer) }
            group.addTask {
                try await Task.sleep(for: patience)
                return nil
            }
            defer { group.cancelAll() }
            guard let reply = try await group.next() ?? nil else {
                throw CompanionError("The computer did not answer. Check that it is running and connected.")
            }
            return reply
        }
    }

    private func reply(to command: HubID, from computer: HubID) async throws -> CommandReply? {
        let found = Found()
        try await watch { _, ingested in
            guard case .reply(command, _, let reply)? = ingested, reply.computer == computer else { return true }
            await self.received(reply)
            guard reply.state != .received else { return true }
            found.reply = reply
            return false
        }
        return found.reply
    }

    /// `@unchecked Sendable`: used only on the companion's actor.
    private final class Found: @unchecked Sendable {
        var reply: CommandReply?
    }

    private func received(_ reply: CommandReply) {
        state.clocks[reply.computer, default: ComputerClock()].received(reply.clock, at: clock())
    }

    // MARK: PIN share

    /// Stores a share at the hub, which is returned only for this PIN on this device. Unused entries are random.
    /// - Returns: the share, 32 bytes.
    public func setPIN(_ pin: SecretBytes) async throws -> SecretBytes {
        let share = SecretBytes.random(count: 32)
        func data(_ secret: SecretBytes) -> Data { secret.withUnsafeBytes { Data($0) } }
        var entries = [
            PINShareRequest.Entry(
                verifier: data(try verifier(pin)), share: data(share), changeHash: data(.random(count: 32)))
        ]
        while entries.count < PINShareRequest.count {
            entries.append(
                .init(
                    verifier: data(.random(count: 32)), share: data(.random(count: 32)),
                    changeHash: data(.random(count: 32))))
        }
        try await hub.setPINShare(PINShareRequest(entries: entries.shuffled()))
        return share
    }

    /// - Throws: `HubError` with `wrongPIN`, `tooMany` or `gone`.
    public func tryPIN(_ pin: SecretBytes) async throws -> SecretBytes {
        var share = try await hub.attemptPIN(verifier: try verifier(pin).withUnsafeBytes { Data($0) })
        return share.withUnsafeMutableBytes { SecretBytes(wiping: $0) }
    }

    /// Derived from the stretched PIN and a secret that never leaves the device.
    private func verifier(_ pin: SecretBytes) throws -> SecretBytes {
        let stretched = try KeyDerivation.pbkdf2(
            pin, salt: Array(device.description.utf8), rounds: 600_000, count: 32)
        return KeyDerivation.hkdf(stretched, salt: deviceSecret, info: "applocker/1/pin-verifier")
    }
}
