import Glibc
public import Testing

/// Runs a test only if the machine can show its behaviour, and reports each one that it skips: it adds a line to the
/// file that `APPLOCKER_NOT_SHOWN` names, and `make test` ends with their count.
public struct RequirementTrait: TestTrait, SuiteTrait {
    let requirements: [Requirement]

    public var isRecursive: Bool { true }

    public func prepare(for test: Test) async throws {
        guard !test.isSuite else { return }  // each test of the suite is checked separately
        try Requirement.demand(requirements, of: test)
    }
}

extension Requirement {
    /// For one case of a test with arguments: skips it if the machine lacks this, and reports it in the same way.
    public func demand() throws {
        guard let test = Test.current else { preconditionFailure("only within a test") }
        try Self.demand([self], of: test)
    }

    fileprivate static func demand(_ requirements: [Requirement], of test: Test) throws {
        if let leftOut = requirements.first(where: \.isLeftOut) { try Test.cancel("left out: needs \(leftOut)") }
        let missing = requirements.filter { !$0.isMet }
        guard !missing.isEmpty else { return }
        let needs = missing.map(\.description).joined(separator: ", ")
        NotShown.record("NOT SHOWN \(test.id): needs \(needs)")
        try Test.cancel("needs \(needs)")
    }
}

extension Trait where Self == RequirementTrait {
    /// The test, or every test of the suite, needs all of these.
    public static func requires(_ requirements: Requirement...) -> Self {
        RequirementTrait(requirements: requirements)
    }
}

/// The list of behaviours that this machine could not show.
enum NotShown {
    /// Appends one line to the file that `APPLOCKER_NOT_SHOWN` names and to standard error. If the list can't be
    /// written, the whole run ends: a skipped test must never go unnoticed.
    static func record(_ line: String) {
        append(line + "\n", to: STDERR_FILENO)
        guard let path = getenv("APPLOCKER_NOT_SHOWN") else { return }
        let file = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0o644)
        guard file >= 0 else { fatalError("cannot open \(String(cString: path)): \(String(cString: strerror(errno)))") }
        append(line + "\n", to: file)
        close(file)
    }

    private static func append(_ text: String, to descriptor: Int32) {
        let bytes = Array(text.utf8)
        let written = write(descriptor, bytes, bytes.count)
        precondition(written == bytes.count, "cannot write the list of behaviours not shown")
    }
}
