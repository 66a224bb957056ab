import HubAPI
import HubStore
import NIOCore

enum StreamEnd: Sendable {
    case closed
    /// The client read more slowly than events arrived. It resumes by its number.
    case tooSlow
    /// The device was revoked or has left.
    case revoked
    case hubEnds
    /// While stored records were sent, more arrived than the ring holds: the replay continues from where it ended.
    case replayAgain
}

/// One live stream. Its events are in its household's ring, so it stores only a position there.
///
/// Unchecked: everything but the constants is used only on its channel's event loop.
final class StreamMember: @unchecked Sendable {
    let device: HubID
    let administers: Bool
    private let connection: RequestGuard
    /// The position in the ring of the next item to send.
    var position: UInt64
    /// The sequence number of the last record that was sent.
    var sequence: UInt64
    private weak var ring: StreamRing?
    private var whenEnded: CheckedContinuation<StreamEnd, Never>?
    /// Whether the channel was not writable at the last heartbeat, and has not become writable since.
    private var missedHeartbeat = false

    init(
        device: StoredDevice, connection: RequestGuard, ring: StreamRing, position: UInt64, sequence: UInt64,
        whenEnded: CheckedContinuation<StreamEnd, Never>
    ) {
        self.device = device.id
        administers = device.role.administers
        self.connection = connection
        self.ring = ring
        self.position = position
        self.sequence = sequence
        self.whenEnded = whenEnded
    }

    var isWritable: Bool { connection.isWritable }

    func send(_ bytes: ByteBuffer) { connection.send(bytes) }

    func becameWritable() {
        // The client has read what it was sent, although the channel may be full again at the next heartbeat.
        missedHeartbeat = false
        ring?.catchUp(self)
    }

    func beat() {
        if isWritable {
            missedHeartbeat = false
            send(StreamItem.heartbeat)
        } else if missedHeartbeat {
            cutOff()
        } else {
            missedHeartbeat = true
        }
    }

    /// Closes the connection at once: a client that doesn't read can't be sent an end.
    func cutOff() {
        ring?.metrics.streamCutOff()
        ended(.tooSlow)
        connection.close()
    }

    func ended(_ end: StreamEnd) {
        guard let whenEnded else { return }
        self.whenEnded = nil
        ring?.leave(self)
        connection.endStream()
        if end == .hubEnds, !connection.isWritable { connection.close() }
        whenEnded.resume(returning: end)
    }
}
