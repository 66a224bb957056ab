import CLinux
public import ControlAPI
import Foundation
import Glibc

/// Which apps run, by the files that processes execute. Names and arguments of processes don't count: a process can
/// choose them.
///
/// The daemon has no right to read which program a process runs, so its clients compare. The kernel shows a user only
/// their own processes, and root those of everybody (`PTRACE_MODE_READ` in ptrace(2)). For display only.
public enum RunningApps {
    private struct FileIdentity: Hashable {
        var device: UInt64
        var inode: UInt64

        /// Identifies the file that this path leads to, with links followed; nil without such a file.
        init?(following path: String) {
            var file = clinux_file()
            guard clinux_identify_path(path, &file) == 0, file.is_regular else { return nil }
            (device, inode) = (file.device, file.inode)
        }
    }

    /// The ids of the apps of which a process that the caller may inspect runs a program. A script doesn't count: its
    /// process runs the interpreter. Blocks for some milliseconds.
    public static func ids(among apps: [InstalledReport]) -> Set<String> {
        var owners: [FileIdentity: Set<String>] = [:]
        for app in apps {
            for path in app.executables {
                if let file = FileIdentity(following: path) { owners[file, default: []].insert(app.id) }
            }
        }
        // A process that ends meanwhile has no program any more.
        let processes = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
        return Set(
            processes.filter { Int32($0) != nil }
                .compactMap { FileIdentity(following: "/proc/\($0)/exe") }.flatMap { owners[$0] ?? [] })
    }
}

extension InstalledList {
    /// Those of the apps that run, and no problems: they are of apps that are left out.
    public func running() -> InstalledList {
        let ids = RunningApps.ids(among: apps)
        return InstalledList(apps: apps.filter { ids.contains($0.id) })
    }
}
