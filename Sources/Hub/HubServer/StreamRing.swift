import HubAPI
import NIOCore

/// The streams of one household on one event loop, and the events that not all of them have been sent.
///
/// Each tick of the loop writes all new events to each stream at once; streams at the same position share one buffer. A
/// stream that falls behind the ring is disconnected and resumes by its number. Runs only on its event loop.
final class StreamRing {
    /// The ring's capacity. A stream that is further behind is disconnected.
    static let maximumItems = 4_096
    static let maximumBytes = 4 << 20
    /// Bytes of one write; the rest follows after it is flushed.
    private static let maximumWrite = 256 << 10

    let metrics: HubMetrics
    private var items: [StreamItem] = []
    private var first: UInt64 = 0
    private var bytes = 0
    private(set) var members: [ObjectIdentifier: StreamMember] = [:]
    /// Streams that are being sent stored records, and will need what arrives meanwhile.
    var replaying = 0

    init(metrics: HubMetrics) { self.metrics = metrics }

    /// The position of the next new item.
    var end: UInt64 { first + UInt64(items.count) }

    /// Whether everything from this position on is still in the ring.
    func reaches(back position: UInt64) -> Bool { position >= first }

    func append(_ new: [StreamItem]) {
        items += new
        bytes += new.reduce(0) { $0 + $1.bytes.readableBytes }
        var shared: [SharedWrite: ByteBuffer] = [:]
        for member in Array(members.values) where member.isWritable { write(to: member, &shared) }
        trim()
    }

    /// The write that all streams at one position share.
    private struct SharedWrite: Hashable {
        let position: UInt64
        let sequence: UInt64
        let administers: Bool
    }

    func join(_ member: StreamMember) {
        members[ObjectIdentifier(member)] = member
        var shared: [SharedWrite: ByteBuffer] = [:]
        // Writes everything, also if the channel isn't writable now: `live` follows it, and it is no more than a ring
        // holds.
        while member.position < end, reaches(back: member.position) { write(to: member, &shared) }
        member.send(StreamItem.live(member.sequence))
        trim()
    }

    func leave(_ member: StreamMember) {
        members[ObjectIdentifier(member)] = nil
        trim()
    }

    func catchUp(_ member: StreamMember) {
        var shared: [SharedWrite: ByteBuffer] = [:]
        while member.isWritable, member.position < end, reaches(back: member.position) { write(to: member, &shared) }
        trim()
    }

    private func write(to member: StreamMember, _ shared: inout [SharedWrite: ByteBuffer]) {
        guard reaches(back: member.position) else { return member.cutOff() }
        let key = SharedWrite(position: member.position, sequence: member.sequence, administers: member.administers)
        var index = Int(member.position - first)
        var written = 0
        var only: ByteBuffer?
        var count = 0
        var sequence = member.sequence
        let begin = index
        while index < items.count, written < Self.maximumWrite {
            let item = items[index]
            index += 1
            guard wants(item, member.administers, after: sequence) else { continue }
            if let number = item.sequence { sequence = number }
            written += item.bytes.readableBytes
            only = item.bytes
            count += 1
        }
        member.position = first + UInt64(index)
        member.sequence = sequence
        guard count > 0, let only else { return }
        if count == 1 {
            member.send(only)
        } else if let known = shared[key] {
            member.send(known)
        } else {
            let joined = join(items[begin..<index], member.administers, after: key.sequence, bytes: written)
            shared[key] = joined
            member.send(joined)
        }
        metrics.delivered(1)
    }

    private func join(_ items: ArraySlice<StreamItem>, _ administers: Bool, after sequence: UInt64, bytes: Int)
        -> ByteBuffer
    {
        var buffer = ByteBuffer()
        buffer.reserveCapacity(bytes)
        var sequence = sequence
        for item in items where wants(item, administers, after: sequence) {
            if let number = item.sequence { sequence = number }
            buffer.writeImmutableBuffer(item.bytes)
        }
        return buffer
    }

    private func wants(_ item: StreamItem, _ administers: Bool, after sequence: UInt64) -> Bool {
        if item.isForAdministrators, !administers { return false }
        return item.sequence.map { $0 > sequence } ?? true
    }

    /// Removes items that all streams have been sent, and those beyond the capacity.
    private func trim() {
        var keep = items.count
        if replaying == 0 {
            let slowest = members.values.lazy.map(\.position).min() ?? end
            keep = slowest >= first ? Int(end - slowest) : items.count
        }
        var drop = items.count - keep
        var left = bytes - items.prefix(drop).reduce(0) { $0 + $1.bytes.readableBytes }
        while drop < items.count, items.count - drop > Self.maximumItems || left > Self.maximumBytes {
            left -= items[drop].bytes.readableBytes
            drop += 1
        }
        guard drop > 0 else { return }
        items.removeFirst(drop)
        first += UInt64(drop)
        bytes = left
        if items.isEmpty { items = [] }
        for member in Array(members.values) where !reaches(back: member.position) { member.cutOff() }
    }
}
