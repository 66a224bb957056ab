import ControlAPI
import GRDB
import SealedFormats

/// How far the log has been followed.
struct LogCheck: Sendable {
    /// Events of one piece: their signatures take some tens of milliseconds.
    static let pieceLength = 512

    var chain: AuditChain
    /// A head that was stored elsewhere, until it is found.
    var known: AuditChain.Head?
    /// Of the last row that was read, whatever it held.
    private var last = Int64.min

    /// What is stored of the log's beginning.
    let stored: String?
    /// The event that the log begins after; 0 where nothing was removed.
    private let beginning: UInt64
    /// The place where the log begins, according to another source.
    private let isForeign: Bool

    init(of device: DevicePublicKey, begunAs stored: String?, known: AuditChain.Head?) {
        let signed = stored.flatMap { AuditChain.Beginning($0) }.flatMap { $0.isSigned(by: device) ? $0.head : nil }
        chain = AuditChain(of: device, from: signed)
        beginning = signed?.number ?? 0
        isForeign = stored != nil && signed == nil
        self.known = known
        self.stored = stored
    }

    /// - Returns: what came of it, once the log's end or a broken event is reached.
    mutating func followNextPiece(in database: Database) throws -> LogVerification? {
        let rows = try Row.fetchCursor(
            database, sql: "SELECT * FROM activity WHERE number > ? ORDER BY number LIMIT ?",
            arguments: [last, Self.pieceLength])
        if isForeign {
            return broken(1, "The beginning of the log was not signed by this device: events may be missing.")
        }
        if let known, known.number < beginning {
            return LogVerification(
                isWhole: false, links: chain.head.number, head: chain.head.description,
                sentence: "Event \(known.number), whose head was saved, was removed with the oldest ones; the log "
                    + "begins with event \(beginning + 1). Verify it without that head, and save the new one.")
        }
        if known?.number == beginning, let known, beginning > 0 {
            guard known.hash == chain.head.hash else {
                return broken(
                    beginning, "Event \(beginning) does not match the saved head: the log was rewritten.")
            }
            self.known = nil
        }
        var count = 0
        while let row = try rows.next() {
            if let broken = follow(row) { return broken }
            count += 1
        }
        guard count < Self.pieceLength else { return nil }
        return try end(StateDatabase.storedHead(database))
    }

    private mutating func follow(_ row: Row) -> LogVerification? {
        last = row["number"]
        let number = UInt64(exactly: last) ?? 0
        let link = AuditChain.Link(
            hash: StateDatabase.bytes(row, "hash"), signature: StateDatabase.bytes(row, "signature"))
        guard let event = try? StateDatabase.event(row), chain.follow(event, number: number, link: link) else {
            return broken(
                chain.head.number + 1,
                number == chain.head.number + 1
                    ? "Event \(number) was changed, or everything before it belongs to another device."
                    : "Event \(chain.head.number + 1) is missing: the next one is \(number).")
        }
        guard let known, known.number == number else { return nil }
        guard known.hash == link.hash else {
            return broken(number, "Event \(number) does not match the saved head: the log was rewritten.")
        }
        self.known = nil
        return nil
    }

    /// In the same reading as the last piece: what is appended later is not missing.
    private func end(_ stored: AuditChain.Head?) -> LogVerification {
        if let known, known.number > 0 {
            return broken(chain.head.number + 1, "The log ends before event \(known.number), whose head was saved.")
        }
        guard stored == chain.head || (stored == nil && chain.head.number == 0) else {
            return broken(
                chain.head.number + 1,
                stored.map { "The log was truncated: it had \($0.number) events, \(chain.head.number) are left." }
                    ?? "The head that is stored beside the log is missing: events after \(chain.head.number) may be missing, too."
            )
        }
        return LogVerification(
            isWhole: true, links: chain.head.number, head: chain.head.description,
            sentence: beginning == 0
                ? "All \(chain.head.number) events are unchanged."
                : "Events \(beginning + 1) to \(chain.head.number) are unchanged; older ones were removed.")
    }

    private func broken(_ number: UInt64, _ sentence: String) -> LogVerification {
        LogVerification(
            isWhole: false, links: chain.head.number, head: chain.head.description, firstBroken: number,
            sentence: sentence)
    }
}
