import ArgumentParser
import Foundation

struct DemoCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "demo",
        abstract: "A tour in under a minute: lock a real program and see what happens.",
        discussion: """
            Starts an AppLocker of its own in a temporary directory, locks a copy of a system program, starts it, is refused, enters a wrong and the correct passcode, kills the gate in between, and cleans up. It asks no questions, changes nothing else, and reports the actual results: the exit status is 1 if a step failed. Without root, and without a sudo that needs no password, it shows the weak mode.

              applocker demo
            """)

    func run() async throws {
        let narrator = Narrator(.standard)
        let directory = try Demo.makeDirectory()
        let demo: Demo
        do {
            demo = try await Demo.start(in: directory, narrator)
        } catch {
            try? FileManager.default.removeItem(atPath: directory)
            throw error
        }
        do {
            try await demo.showEverything()
        } catch {
            narrator.fail("The tour was aborted: \(Failure(error).message.terminalSafe)")
        }
        await demo.stop()
        try? FileManager.default.removeItem(atPath: directory)
        narrator.check(
            !FileManager.default.fileExists(atPath: directory), "\(directory) is removed.",
            otherwise: "\(directory) could not be removed; remove it by hand.")
        guard narrator.failures == 0 else {
            Output.errors.line("applocker: \(narrator.failures) steps failed.")
            throw ExitStatusError(status: .refused)
        }
        narrator.print("All steps succeeded.")
    }
}
