/// The checks of the host behind `applocker doctor`.
///
/// Reading only; the two questions to the kernel are asked by trying and leave nothing behind. Blocks for some tens of
/// milliseconds: call it away from Swift's cooperative threads where that matters.
public struct HostInspection: Sendable {
    let files: HostFiles
    let kernel: KernelTrials

    /// This machine.
    public init() {
        self.init(root: "/", kernel: .thisKernel)
    }

    /// - Parameter root: an absolute directory that stands for `/`.
    init(root: String, kernel: KernelTrials) {
        files = HostFiles(root: root)
        self.kernel = kernel
    }

    /// One finding for each `HostFinding.ID`, in its order, but the descriptor store, which needs a gate.
    public func findings() -> [HostFinding] {
        let overlay = kernel.overlayEscapes()
        return [
            launchHold(), overlayEscape(overlay), RootAccess(files).finding, preloadedLibraries(), tracing(),
            userNamespaces(overlay), secureBoot(), kernelLockdown(), kernelTaint(), fanotifyWatchdog(), coreFiles(),
            serviceUnits(), camera(), clock(),
        ]
    }

    /// Those that only read: for a process that holds secrets and many threads, where nothing may be tried in a child.
    public func readings() -> [HostFinding] {
        [
            RootAccess(files).finding, preloadedLibraries(), tracing(), secureBoot(), kernelLockdown(), kernelTaint(),
            coreFiles(), serviceUnits(), camera(), clock(),
        ]
    }
}
