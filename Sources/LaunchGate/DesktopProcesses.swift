import Glibc

/// The processes that draw the desktop. What runs the same program for the same user must never wait: a compositor
/// that starts an app waits for the app's execve, and could not draw the question.
struct DesktopProcesses {
    private struct Desktop {
        var handle: ProcessHandle
        var program: FileIdentity
        var user: UInt32
    }

    private var desktops: [UInt64: Desktop] = [:]
    private var nextNumber: UInt64 = 1

    /// Returns the number under which the end of the process is to be watched. Nil where it is gone, or known.
    mutating func add(_ handle: ProcessHandle) -> UInt64? {
        guard let program = ProcessFacts.executable(handle.process),
            let user = ProcessFacts.users(handle.process)?.real, handle.isAlive,
            !desktops.values.contains(where: { $0.handle.process == handle.process && $0.program == program })
        else { return nil }
        defer { nextNumber += 1 }
        desktops[nextNumber] = Desktop(handle: handle, program: program, user: user)
        return nextNumber
    }

    mutating func remove(_ number: UInt64) { desktops[number] = nil }

    mutating func removeAll() { desktops = [:] }

    /// Whether the process runs, at this moment, a program that draws the desktop of this user. A child that has not
    /// yet become the launched app still runs its parent's.
    func include(_ process: Int32, user: UInt32) -> Bool {
        guard desktops.values.contains(where: { $0.user == user }),
            let program = ProcessFacts.executable(process)
        else { return false }
        return desktops.values.contains { $0.user == user && $0.program == program }
    }
}
