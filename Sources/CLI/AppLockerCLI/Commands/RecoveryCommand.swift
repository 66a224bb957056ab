import ArgumentParser
import BlockingThread
import ControlAPI
import Foundation
import LocalControl
import MomentTransfer
import QRCode

struct RecoveryCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "recovery",
        abstract: "Print, test or use a recovery sheet for a forgotten passcode.",
        subcommands: [Print.self, Test.self, Use.self])

    struct Print: ConnectedCommand {
        static let configuration = CommandConfiguration(
            abstract: "Print a new recovery sheet. An earlier one stops working.",
            discussion: """
                The code is shown only once. The earlier sheet stays valid until the new code was shown or written. Store it where only you have access: it opens everything, like the passcode.

                  applocker recovery print                   on the terminal, with a QR code
                  applocker recovery print --page sheet.html  a page for the printer; remove it afterwards
                """)

        @Option(
            help: ArgumentHelp("Write a page to print; it must not exist yet.", valueName: "file"), completion: .file())
        var page: String?
        @OptionGroup var options: CommonOptions

        func run() async throws {
            let target = try page.map { try NewFile($0) }
            do {
                let own = try await passcodes.existing()
                let reply = try await client.call(\.makeRecovery, body: PasscodeRequest(passcode: own.text))
                let code = try QRCode(reply.code)
                if let target {
                    let html = RecoverySheet.html(
                        code: reply.code, picture: code.svg, computer: ProcessInfo.processInfo.hostName)
                    do {
                        try await runBlocking {
                            try target.write(Array(html.utf8))
                            try target.finish()
                        }
                    } catch {
                        // The code is valid already.
                        try show(reply, code)
                        throw error
                    }
                }
                if let page, !output.json {
                    Output.standard.line(
                        "Wrote \(page.terminalSafe). Print it, remove the file, then try it: applocker recovery test")
                } else {
                    try show(reply, code)
                }
                try await replaceEarlier(reply.code)
            } catch {
                target?.discard()
                throw error
            }
        }

        /// Entering the new code ends the earlier sheet. Only now: a code that nobody has seen replaces nothing.
        private func replaceEarlier(_ code: String) async throws {
            do {
                _ = try await client.call(\.testRecovery, body: RecoveryRequest(code: code))
            } catch {
                Output.errors.line(
                    Paint(.errors).warning(
                        "The new sheet is valid, and the earlier one still is. Enter the new code: applocker recovery test"
                    ))
                // In JSON, the code has been printed.
                throw output.json ? ExitStatusError(status: .refused) : error
            }
        }

        private func show(_ reply: RecoveryReply, _ code: QRCode) throws {
            if output.json { return try Output.standard.json(reply) }
            if isatty(STDOUT_FILENO) == 1 { Output.standard.lines(code.terminalLines) }
            Output.standard.line("Recovery code: \(Paint(.standard).strong(reply.code))")
            Output.standard.line("Write it down, then try it: applocker recovery test")
        }
    }

    struct Test: ConnectedCommand {
        static let configuration = CommandConfiguration(
            abstract: "Check a recovery code.",
            discussion: """
                The code is read from the terminal or --passcode-fd. A wrong one counts like a wrong passcode.

                  applocker recovery test
                """)

        @OptionGroup var options: CommonOptions

        func run() async throws {
            let code = try await passcodes.existing("Recovery code")
            let done = try await client.call(\.testRecovery, body: RecoveryRequest(code: code.text))
            try done.print("The recovery code is valid.", output)
        }
    }

    struct Use: ConnectedCommand {
        static let configuration = CommandConfiguration(
            abstract: "Choose a new passcode with the recovery code.",
            discussion: """
                With --passcode-fd: two lines, the recovery code and the new passcode.

                  applocker recovery use
                """)

        @OptionGroup var options: CommonOptions

        func run() async throws {
            let code = try await passcodes.existing("Recovery code")
            let new = try await passcodes.chosen("New passcode")
            let done = try await client.call(
                \.useRecovery, body: RecoveryRequest(code: code.text, newPasscode: new.text))
            try done.print("The passcode is changed. The recovery sheet stays valid.", output)
        }
    }
}

enum RecoverySheet {
    static func html(code: String, picture: String, computer: String) -> String {
        let computer = computer.replacingOccurrences(of: "&", with: "&amp;").replacingOccurrences(of: "<", with: "&lt;")
        return """
            <!doctype html>
            <html lang="en">
            <meta charset="utf-8">
            <title>AppLocker recovery sheet</title>
            <style>
            body { font: 12pt/1.5 sans-serif; max-width: 16cm; margin: 2cm auto; color: #000; background: #fff }
            svg { width: 6cm; height: 6cm; display: block; margin: 1cm 0 }
            code { font: bold 14pt monospace; overflow-wrap: anywhere }
            </style>
            <h1>AppLocker recovery sheet</h1>
            <p>For <b>\(computer)</b>. Anybody with this sheet can open everything that AppLocker seals there. Store it where only you have access, and not beside the computer.</p>
            \(picture)
            <p><code>\(code)</code></p>
            <p>To use it: <code>applocker recovery use</code>, and type the code. To check the code:
            <code>applocker recovery test</code>.</p>
            </html>

            """
    }
}
