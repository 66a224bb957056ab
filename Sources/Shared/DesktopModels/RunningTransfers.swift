/// The transfers that closing the window would break off.
@MainActor
public struct RunningTransfers {
    /// How long `stop` waits for their end: the daemon may be sealing a backup.
    static let limit = Duration.seconds(10)

    private let files: FilesModel
    private let moments: MomentsModel
    private let backup: BackupModel
    private let time: DesktopTime

    public init(_ files: FilesModel, _ moments: MomentsModel, _ backup: BackupModel, time: DesktopTime) {
        (self.files, self.moments, self.backup, self.time) = (files, moments, backup, time)
    }

    public var isRunning: Bool { files.work != nil || moments.work != nil || backup.isWorking }

    /// Stops them, and waits until they have ended and removed what is incomplete.
    ///
    /// - Returns: sentences about what remains, such as unsealed files.
    public func stop() async -> [String] {
        let hasMoments = moments.work != nil
        await time.wait(atMost: Self.limit) { [self] in
            // Again, because a transfer of several files may be between two.
            while isRunning {
                files.cancel()
                moments.cancel()
                backup.cancel()
                try? await time.sleep(.milliseconds(50))
            }
        }
        return hasMoments ? moments.outcome : []
    }
}
