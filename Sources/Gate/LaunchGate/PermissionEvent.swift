import CLinux
import Glibc

/// One process that the kernel holds until `answer` is called.
///
/// Whoever has the event owes the answer. An event that is dropped unanswered is denied by its `deinit`, and its
/// number is closed only after the answer: until then the kernel can't hand the number to another event.
final class PermissionEvent {
    private let source: any PermissionEventSource
    /// The file, opened by the kernel for the gate: reading it raises no further event. The kernel knows the event by
    /// this number.
    let file: Int32
    let handle: ProcessHandle
    /// True: the file is about to be executed. False: it was opened.
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

    /// Lets the process go on, or gives it EPERM. Only the first call counts. Harmless where the process was killed.
    func answer(allow: Bool) {
        guard !isAnswered else { return }
        isAnswered = true
        source.answer(file, allow: allow)
    }

    /// Where the file is, as the gate's own mount namespace (or, failing that, the opener's) has it.
    var path: PathBytes { ProcessFacts.readLink(Array("/proc/self/fd/\(file)".utf8)) ?? [] }
}
