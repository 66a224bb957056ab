import CLinux
import Glibc

/// What every process that handles secrets does first: no process of the same user can read or trace it, or
/// has it load code of their choice. Free of Foundation, for the gate.
public enum ProcessHardening {
    /// Why a process must not continue.
    public enum Refusal: Error, Equatable, Sendable, CustomStringConvertible {
        /// This process traces it.
        case traced(by: Int32)

        public var description: String { sentence }

        public var sentence: String {
            switch self {
            case .traced(let tracer):
                "Process \(tracer) is tracing this one, and could read every secret. Start it without a debugger."
            }
        }
    }

    /// To be called before anything else, from the main thread, while there is no other.
    ///
    /// Not dumpable (prctl(2), PR_SET_DUMPABLE): no core file, and no ptrace or /proc/PID/mem for processes without
    /// privileges. A process that was started with variables that make the loader load code (ld.so(8)) starts its own
    /// program again without them, and does not return.
    ///
    /// - Returns: the limit on core files, now zero.
    /// - Throws: `Refusal.traced` in a release build; in a debug build only with `APPLOCKER_REFUSE_TRACER` in the
    ///   environment, so that a debugger can be used on it.
    @discardableResult
    public static func apply() throws(Refusal) -> CoreLimit {
        _ = clinux_forbid_dumping()
        startAgainWithoutLoaderVariables()
        if refusesTracer, let tracer = tracer() { throw .traced(by: tracer) }
        return CoreLimit()
    }

    private static var refusesTracer: Bool {
        #if DEBUG
            getenv("APPLOCKER_REFUSE_TRACER") != nil
        #else
            true
        #endif
    }

    // MARK: Tracer

    /// The process that traces this one (proc_pid_status(5), TracerPid), or nil.
    static func tracer() -> Int32? {
        let file = open("/proc/self/status", O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var buffer = [UInt8](repeating: 0, count: 4_096)
        let count = read(file, &buffer, buffer.count)
        guard count > 0 else { return nil }
        return tracer(inStatus: String(decoding: buffer[..<count], as: UTF8.self))
    }

    static func tracer(inStatus text: String) -> Int32? {
        guard let line = text.split(separator: "\n").first(where: { $0.hasPrefix("TracerPid:") }) else { return nil }
        let number = line.dropFirst("TracerPid:".count).filter { $0 != "\t" && $0 != " " }
        return Int32(number).flatMap { $0 > 0 ? $0 : nil }
    }

    // MARK: Loader

    /// Whether a variable changes what the loader or the C library load into a program.
    static func changesLoading(_ variable: String) -> Bool {
        variable.hasPrefix("LD_") || ["GCONV_PATH", "GLIBC_TUNABLES", "GETCONF_DIR", "LOCPATH"].contains(variable)
    }

    private static func startAgainWithoutLoaderVariables() {
        let unwanted = environmentNames().filter(changesLoading)
        guard !unwanted.isEmpty else { return }
        for name in unwanted { unsetenv(name) }
        // Where it fails, the libraries are loaded already and there is nothing left to do about them.
        execv("/proc/self/exe", CommandLine.unsafeArgv)
    }

    private static func environmentNames() -> [String] {
        var names: [String] = []
        var entry = environ
        while let text = entry.pointee {
            names.append(String(String(cString: text).prefix { $0 != "=" }))
            entry += 1
        }
        return names
    }
}
