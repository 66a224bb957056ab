import HubStore
import NIOCore
import WireProtocol

/// Why a stream ended.
enum StreamEnd: Sendable {
    /// Its client went away.
    case closed
    /// It was slower than what came, and resumes by its number.
    case tooSlow
    /// Its device is revoked, or has left.
    case revoked
    /// The hub ends.
    case hubEnds
    /// More came than the ring holds while it was sent what is stored: from there again.
    case replayAgain
}

/// One live stream. What it is sent stands in its household's ring, so that all it holds itself is a position there.
///
/// Unchecked: everything but the constants is touched on its channel's event loop alone.
final class StreamMember: @unchecked Sendable {
    let device: HubID
    let isComputer: Bool
    let eventLoop: any EventLoop
    private let connection: RequestGuard
    /// In the ring: the next item that it has not been sent.
    var position: UInt64
    /// Of the record that it was sent last.
    var sequence: UInt64
    private weak var ring: StreamRing?
    private var whenEnded: CheckedContinuation<StreamEnd, Never>?
    /// It could not be written to at the last heartbeat.
    private var missedHeartbeat = false

    init(
        device: StoredDevice, connection: RequestGuard, eventLoop: any EventLoop, ring: StreamRing, position: UInt64,
        sequence: UInt64, whenEnded: CheckedContinuation<StreamEnd, Never>
    ) {
        self.device = device.id
        isComputer = device.role == .computer
        self.connection = connection
        self.eventLoop = eventLoop
        self.ring = ring
        self.position = position
        self.sequence = sequence
        self.whenEnded = whenEnded
    }

    var isWritable: Bool { connection.isWritable }

    func send(_ bytes: ByteBuffer) { connection.send(bytes) }

    func becameWritable() { ring?.catchUp(self) }

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

    /// Closes the connection: there is no writing to who does not read.
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
