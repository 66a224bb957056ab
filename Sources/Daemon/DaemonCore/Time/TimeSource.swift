public import Policy
public import Sync

/// The time, and waiting for it.
public protocol TimeSource: WallClock {
    func now() -> Moment
}

extension TimeSource {
    public func elapsed() -> Duration { now().elapsed }
}
