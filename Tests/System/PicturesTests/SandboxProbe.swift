import Foundation
import SystemTestSupport
import TestSupport
import Testing

/// A program that does what the decoder must not be able to do, in the decoder's own sandbox or without it.
struct SandboxProbe {
    private let program: String
    private let directory: TemporaryDirectory

    init(in directory: TemporaryDirectory) async throws {
        self.directory = directory
        let decoder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("../../../Sources/System/applocker-picture").standardized.path
        let source = try directory.write(Self.source, to: "probe.c")
        program = directory.path("probe")
        let compiled = try await ChildProcess.run(
            "cc", ["-O1", "-Wall", "-D_GNU_SOURCE", "-I", decoder, "-o", program, source, decoder + "/sandbox.c"])
        try #require(compiled.exit == .code(0), "\(compiled.errorOutput)")
    }

    /// A line for each attempt, in the order of the source.
    func attempts(isConfined: Bool) async throws -> [String] {
        let file = try directory.write("", to: "file")
        let made = try await ChildProcess.run(
            program, [isConfined ? "confined" : "free", file, directory.path("created-\(isConfined)")])
        #expect(made.exit == .code(0), "\(made.exit) \(made.errorOutput)")
        return made.output.split(separator: "\n").map(String.init)
    }

    private static let source = """
        #include "picture.h"
        #include <errno.h>
        #include <fcntl.h>
        #include <signal.h>
        #include <string.h>
        #include <sys/socket.h>
        #include <unistd.h>

        void fail(const char *reason) {
            (void)!write(STDERR_FILENO, reason, strlen(reason));
            _exit(1);
        }

        static void print(const char *text) { (void)!write(STDOUT_FILENO, text, strlen(text)); }

        static void attempt(const char *name, long result) {
            print(name);
            print(result >= 0 ? " is possible\\n" : errno == EPERM ? " is refused\\n" : " fails\\n");
        }

        // Names an existing file, and one that it creates. Run again as "again", it only prints its last line.
        int main(int count, char **words) {
            if (!strcmp(words[1], "again")) {
                print("execute is possible\\n");
                return 0;
            }
            if (!strcmp(words[1], "confined")) enter_sandbox();
            attempt("open", open(words[2], O_RDONLY));
            attempt("create", open(words[3], O_WRONLY | O_CREAT, 0600));
            attempt("remove", unlink(words[2]));
            attempt("internet socket", socket(AF_INET, SOCK_STREAM, 0));
            attempt("local socket", socket(AF_UNIX, SOCK_STREAM, 0));
            pid_t child = fork();
            if (child == 0) _exit(0);
            attempt("fork", child);
            attempt("signal", kill(0, 0));
            char *again[] = {words[0], "again", NULL};
            attempt("execute", execv(words[0], again));
            return 0;
        }

        """
}
