import CLinux
import Glibc

/// A child process that could not be made.
public struct SpawnError: Error, Equatable, Sendable {
    /// The errno.
    public let code: Int32
}

/// A child process to start. Its launch may be held inside execve; nothing waits for that here.
public struct SpawnRequest: Sendable {
    public enum Group: Sendable {
        /// That of this process: a terminal's Ctrl-C reaches both.
        case inherited
        case own
        /// A session of its own, without a terminal.
        case session
    }

    // As C has them: with a zero byte at the end, in any encoding.
    private let executable: [CChar]
    private let arguments: [[CChar]]
    private let environment: [[CChar]]?
    private let workingDirectory: [CChar]?
    private let descriptors: [Int32]
    public var group: Group = .inherited
    /// Signal to the child when the thread that starts it ends; 0 for none.
    public var parentDeathSignal: Int32 = 0
    /// This descriptor (close-on-exec) gets the errno of a child whose program could not start; see `startError`.
    public var errorDescriptor: Int32 = -1
    var confinement: Confinement?

    /// - Parameters:
    ///   - executable: absolute path, ending with a zero byte as the other texts do.
    ///   - arguments: from `argv[0]`.
    ///   - environment: nil: that of this process. The child writes its own number over the ten digits of LISTEN_PID.
    ///   - workingDirectory: nil: that of this process.
    ///   - descriptors: descriptors of this process in the order of the child's numbers, from 0. It gets no others.
    public init(
        executable: [CChar], arguments: [[CChar]], environment: [[CChar]]?, workingDirectory: [CChar]?,
        descriptors: [Int32]
    ) {
        self.executable = executable
        self.arguments = arguments
        self.environment = environment
        self.workingDirectory = workingDirectory
        self.descriptors = descriptors
    }

    /// The same with Swift's strings.
    public init(
        executable: String, arguments: [String], environment: [String]? = nil, workingDirectory: String? = nil,
        descriptors: [Int32]
    ) {
        self.init(
            executable: Array(executable.utf8CString), arguments: arguments.map { Array($0.utf8CString) },
            environment: environment?.map { Array($0.utf8CString) },
            workingDirectory: workingDirectory.map { Array($0.utf8CString) }, descriptors: descriptors)
    }

    /// Blocks for one fork only: the child's execve may still be under way.
    ///
    /// - Returns: the child's process number, to be waited for.
    public func start() throws(SpawnError) -> Int32 {
        let memory = RequestMemory()
        var request = clinux_spawn_request()
        request.path = memory.text(executable)
        request.argv = memory.texts(arguments)
        request.envp = environment.map(memory.texts) ?? UnsafePointer(environ)
        request.working_directory = workingDirectory.map(memory.text)
        request.descriptors = memory.values(descriptors)
        request.targets = memory.values(Array(0..<Int32(descriptors.count)))
        request.descriptor_count = descriptors.count
        request.parent_death_signal = parentDeathSignal
        request.new_process_group = group == .own
        request.new_session = group == .session
        request.error_descriptor = errorDescriptor
        if let confinement {
            let limits = confinement.limits
            request.change_user = geteuid() == 0
            request.user = Confinement.nobody
            request.group = Confinement.nobody
            request.further_groups = memory.values(confinement.groups)
            request.further_group_count = confinement.groups.count
            request.forbid_new_privileges = true
            request.limits = memory.values(limits)
            request.limit_count = limits.count
        }
        var failure: Int32 = 0
        let process = withExtendedLifetime(memory) { clinux_spawn(&request, &failure) }
        guard process > 0 else { throw SpawnError(code: failure) }
        return process
    }

    /// Reads the other end of the error descriptor, whose own end has to be closed here. Blocks until the child's
    /// execve succeeded (nil) or failed (its errno).
    public static func startError(from descriptor: Int32) -> Int32? {
        var code: Int32 = 0
        while true {
            let count = read(descriptor, &code, MemoryLayout<Int32>.size)
            if count < 0, errno == EINTR { continue }
            return count == MemoryLayout<Int32>.size ? code : nil
        }
    }
}

/// What the pointers of a request point to; freed with it.
private final class RequestMemory {
    private var allocations: [UnsafeMutableRawPointer] = []

    deinit { for allocation in allocations { free(allocation) } }

    func text(_ text: [CChar]) -> UnsafePointer<CChar> {
        let copy = strdup(text)!
        allocations.append(copy)
        return UnsafePointer(copy)
    }

    /// Ends with a null pointer.
    func texts(_ texts: [[CChar]]) -> UnsafePointer<UnsafeMutablePointer<CChar>?> {
        values(texts.map { UnsafeMutablePointer(mutating: text($0)) } + [nil])
    }

    func values<Value: BitwiseCopyable>(_ values: [Value]) -> UnsafePointer<Value> {
        let memory = malloc(max(values.count, 1) * MemoryLayout<Value>.stride)!
        allocations.append(memory)
        let copy = memory.bindMemory(to: Value.self, capacity: max(values.count, 1))
        copy.initialize(from: values, count: values.count)
        return UnsafePointer(copy)
    }
}
