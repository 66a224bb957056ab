import Synchronization

/// Whether the camera is in use: it serves one picture at a time.
enum CameraUse {
    private static let isInUse = Mutex(false)

    /// - Returns: false while another picture is being taken.
    static func begin() -> Bool {
        isInUse.withLock { isInUse in
            defer { isInUse = true }
            return !isInUse
        }
    }

    static func end() { isInUse.withLock { $0 = false } }
}
