import CLinux
import Glibc

/// A process that the kernel holds until `answer` is called.
///
/// The owner of the event must answer it; `deinit` denies an unanswered one. Its descriptor is closed only after the
/// answer, because the kernel could otherwise use the number for another event.
final class PermissionEvent {
    private let source: any PermissionEventSource
    /// The file's descriptor. The kernel opened it for the gate, so reading it raises no event. The number also
    /// identifies the event in the answer.
    let file: Int32
    let handle: ProcessHandle
    /// True if the file is being executed, false if it is being opened.
    let isExecution: Bool
    private var isAnswered = false

    var process: Int32 { handle.process }

    init(source: any PermissionEventSource, file: Int32, handle: ProcessHandle, isExecution: Bool) {
        self.source = source
        self.file = file
        self.handle = handle
        self.isExecution = isExecution
    }

    deinit {
        answer(allow: false)
        close(file)
    }

    /// Continues the process, or fails its call with EPERM. Only the first answer counts. No effect if the process was
    /// killed.
    func answer(allow: Bool) {
        guard !isAnswered else { return }
        isAnswered = true
        source.answer(file, allow: allow)
    }

    /// The file's path in the gate's mount namespace, else in the opener's.
    var path: PathBytes { ProcessFacts.readLink(Array("/proc/self/fd/\(file)".utf8)) ?? [] }
}
