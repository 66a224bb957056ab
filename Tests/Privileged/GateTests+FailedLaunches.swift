import Foundation
import GateProtocol
import SystemTestSupport
import TestSupport
import Testing

/// failing WAY LOCKED PROGRAM...: an execve of LOCKED that does not succeed although it is allowed, then one of
/// PROGRAM.
private let failingSource = #"""
    #include <errno.h>
    #include <pthread.h>
    #include <stdio.h>
    #include <string.h>
    #include <sys/wait.h>
    #include <unistd.h>

    static void *launch(void *program) {
        char *arguments[] = {program, NULL};
        execv(program, arguments);
        return NULL;
    }

    int main(int argc, char **argv) {
        if (argc < 4) return 250;
        if (strcmp(argv[1], "thread") == 0) {
            // The kernel holds the second thread, until the first one's execve ends it.
            pthread_t thread;
            if (pthread_create(&thread, NULL, launch, argv[2]) != 0) return 251;
            char line;
            while (read(0, &line, 1) == 1 && line != '\n') {}
        } else {
            if (strcmp(argv[1], "forked") == 0 && fork() != 0) {
                wait(NULL);
                return 0;
            }
            execv(argv[2], (char **)1);
            printf("failed %d\n", errno);
            fflush(stdout);
        }
        execv(argv[3], argv + 3);
        return 252;
    }
    """#

/// For each line on its input it starts its first argument.
private let startingSource = """
    import subprocess, sys
    print("ready", flush=True)
    for line in sys.stdin:
        try:
            subprocess.run([sys.argv[1]], check=True)
            print("started", flush=True)
        except OSError as error:
            print(error.errno, flush=True)
    """

extension GateTests {
    /// The owner approves one launch. Its process never runs the app, but another program, which was not approved.
    @Test(arguments: ["thread", "fault", "forked"])
    func `a process that executes another program after its failed launch is not part of the app`(
        way: String
    ) async throws {
        let app = try await OneApp()
        let failing = try CompiledPrograms.compiled("failing", failingSource, ["-pthread"]).path
        let process = try ChildProcess(
            failing,
            [
                way, app.program.path, "/bin/sh", "-c", "echo shell; read line; exec /usr/bin/python3 -c \"$0\" \"$1\"",
                startingSource, app.program.path,
            ], input: .pipe)
        let question = try await app.daemon.nextLaunch()
        if way == "thread" {
            process.write("\n")
            await eventually("it runs a shell") { process.output == "shell\n" }
        }
        app.daemon.send(.answer(question.launch, allow: true))
        try await app.daemon.roundTrip()
        let before = way == "thread" ? "shell\n" : "failed \(EFAULT)\nshell\n"
        await eventually("it runs a shell") { process.output == before }
        process.write("\n")
        await eventually("it runs Python") { process.output == before + "ready\n" }
        // Real time is what is tested: for a second after the answer it counts as admitted.
        try await Task.sleep(for: .milliseconds(1_100))
        process.write("start\n")
        app.daemon.send(.answer(try await app.daemon.nextLaunch().launch, allow: false))
        await eventually("it is refused") { process.output == before + "ready\n\(EPERM)\n" }
        #expect(!app.program.hasRun)
    }

    /// A launcher executes another program soon, and that one starts the app's programs for as long as it lives.
    @Test(arguments: ["#!/bin/sh", "#!/usr/bin/env -S sh -e"])
    func `a script that was allowed is part of the app after it has executed another program`(
        firstLine: String
    ) async throws {
        let app = try await OneApp { question in String(decoding: question.path, as: UTF8.self).hasSuffix("launcher") }
        let launcher = try app.gate.directory.write(
            "\(firstLine)\nexec /usr/bin/python3 -c \"$CODE\" \"$PROGRAM\"\n", to: "apps/launcher", permissions: 0o755)
        let link = app.gate.directory.path("start")
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: launcher)
        try await app.daemon.commit(OneApp.app, executables: [app.program.path, launcher])
        let process = try ChildProcess(
            link, [], environment: ["CODE": startingSource, "PROGRAM": app.program.path], input: .pipe)
        await eventually("it runs Python") { process.output == "ready\n" }
        try await Task.sleep(for: .milliseconds(1_100))
        process.write("start\n")
        await eventually("it starts the program") { process.output == "ready\nstarted\n" }
        #expect(app.daemon.questions == 1)
    }
}
