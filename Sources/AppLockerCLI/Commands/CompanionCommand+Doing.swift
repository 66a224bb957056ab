import ArgumentParser
import Foundation
import HeadlessCompanion
import Policy
import SealedFormats
import WireProtocol

// What a companion changes.
extension CompanionCommand {
    struct Command: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Send a signed command to a computer and wait for its answer.",
            discussion: """
                lock-all, unlock-all, lock APP, unlock APP, approve PROMPT, deny PROMPT, lock-vault, photo, sign-out, \
                remove-photo ID, report, add APP, remove APP, schedule APP TEXT, categories APP NAME..., rename DEVICE NAME, \
                revoke DEVICE

                  applocker companion command lock-all --state DIR
                  applocker companion command unlock firefox-esr --for 10m --state DIR
                """)

        @Argument var action: [String]
        @Option(name: .customLong("for"), help: ArgumentHelp("How long a grant lasts.", valueName: "time"))
        var length: DurationArgument?
        @Flag(help: "For one launch.") var once = false
        @Flag(help: "Until somebody locks it.") var untilLocked = false
        @Option(help: "Its id, the first digits of it, or its name.") var computer: String?
        @OptionGroup var place: Place

        func run() async throws {
            let action = try parsed()
            let companion = try await place.synced()
            let reply = try await companion.command(action, to: try await companion.computer(computer))
            if place.output.json {
                try Output.standard.json(reply)
            } else {
                Output.standard.line(reply.sentence.terminalSafe)
            }
            if reply.state != .done { throw ExitStatusError(status: .refused) }
        }

        private var grant: GrantRequest {
            if once { return GrantRequest(.thisLaunch) }
            if untilLocked { return GrantRequest(.untilLocked) }
            return GrantRequest(.duration, seconds: length?.seconds)
        }

        private func parsed() throws -> RemoteAction {
            func rest(_ count: Int) -> [String]? {
                self.action.count == count + 1 ? Array(self.action.dropFirst()) : nil
            }
            switch action.first {
            case "lock-all": return .lockAll
            case "unlock-all": return .unlockAll(grant: grant)
            case "lock": if let words = rest(1) { return .lockApp(app: words[0]) }
            case "unlock": if let words = rest(1) { return .unlockApp(app: words[0], grant: grant) }
            case "approve": if let words = rest(1) { return .approve(prompt: words[0], grant: grant) }
            case "deny": if let words = rest(1) { return .deny(prompt: words[0]) }
            case "lock-vault": return .lockVault
            case "photo": return .takePhoto
            case "sign-out": return .signOut
            case "report": return .report
            case "remove-photo": if let id = rest(1).flatMap({ HubID($0[0]) }) { return .removePhoto(photo: id) }
            case "add": if let words = rest(1) { return .addApp(app: words[0]) }
            case "remove": if let words = rest(1) { return .removeApp(app: words[0]) }
            case "schedule": if let words = rest(2) { return .setSchedule(app: words[0], schedule: words[1]) }
            case "categories":
                if action.count >= 2 {
                    return .setCategories(app: action[1], categories: Array(action.dropFirst(2)))
                }
            case "rename":
                if let words = rest(2), let device = HubID(words[0]) {
                    return .renameDevice(device: device, name: words[1])
                }
            case "revoke": if let device = rest(1).flatMap({ HubID($0[0]) }) { return .revokeDevice(device: device) }
            default: break
            }
            throw CommandLineError(
                .usage, code: "usage", "\"\(action.joined(separator: " "))\" is no command; `--help` lists them.")
        }
    }

    struct Notes: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "List the notes, with their texts.",
            discussion: """
                  applocker companion notes --state DIR --json
                """)
        @OptionGroup var place: Place

        func run() async throws {
            let notes = try await (try place.synced()).notes()
            if place.output.json { return try Output.standard.json(["notes": notes]) }
            for note in notes { Output.standard.line("\(note.id)  \(note.title.terminalSafe)") }
        }
    }

    struct Note: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Write a note; its text comes from standard input. Or remove one.",
            discussion: """
                  applocker companion note "Shopping" --state DIR < list.txt
                """)
        @Argument(help: "The title.") var title: String = ""
        @Option(help: "Change this note instead of adding one.") var id: String?
        @Option(help: "Remove this note.") var remove: String?
        @OptionGroup var place: Place

        func run() async throws {
            let companion = try await place.synced()
            if let remove {
                guard let id = HubID(remove) else { throw CommandLineError(.usage, code: "usage", "That is no id.") }
                return try await companion.removeNote(id)
            }
            let body = FileHandle.standardInput.readDataToEndOfFile()
            let note = try await companion.write(
                title: title, body: String(decoding: body, as: UTF8.self), to: id.flatMap { HubID($0) })
            if place.output.json { return try Output.standard.json(note) }
            Output.standard.line("\(note.id)")
        }
    }

    struct Photo: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Write an intruder photo to standard output.",
            discussion: """
                  applocker companion photo ID --state DIR > photo.jpg
                """)
        @Argument var id: String
        @OptionGroup var place: Place

        func run() async throws {
            guard let id = HubID(id) else { throw CommandLineError(.usage, code: "usage", "That is no id.") }
            let photo = try await (try place.synced()).photo(id)
            try FileHandle.standardOutput.write(contentsOf: photo)
        }
    }

    struct PIN: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "pin", abstract: "Leave a PIN share at the hub, or try a PIN on it.",
            discussion: """
                  applocker companion pin set --state DIR --passcode-fd 3 3< pin.txt
                """)
        @Argument(help: "set or try.") var action: String
        @OptionGroup var passcode: PasscodeOptions
        @OptionGroup var place: Place

        func run() async throws {
            let companion = try place.open()
            guard ["set", "try"].contains(action) else {
                throw CommandLineError(.usage, code: "usage", "Say set or try.")
            }
            let pin = SecretBytes(utf8: try await passcode.source.existing("PIN").text)
            if action == "set" {
                _ = try await companion.setPIN(pin)
                Output.standard.line("The hub keeps a share that this PIN gets back.")
            } else {
                _ = try await companion.tryPIN(pin)
                Output.standard.line("The PIN is right.")
            }
        }
    }

    struct Push: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Subscribe to pushes, or end that.",
            discussion: """
                  applocker companion push --endpoint URL --p256dh KEY --auth KEY --state DIR
                """)
        @Option(help: "Where pushes go.") var endpoint: String?
        @Option(help: "base64url, 65 bytes.") var p256dh: String?
        @Option(help: "base64url, 16 bytes.") var auth: String?
        @Flag(help: "End the subscription.") var remove = false
        @OptionGroup var place: Place

        func run() async throws {
            let companion = try place.open()
            if remove { return try await companion.hub.removePush() }
            guard let endpoint, let p256dh, let auth else {
                throw CommandLineError(.usage, code: "usage", "Give --endpoint, --p256dh and --auth, or --remove.")
            }
            try await companion.hub.setPush(
                PushSubscriptionRequest(endpoint: endpoint, keys: .init(p256dh: p256dh, auth: auth)))
            Output.standard.line("Subscribed.")
        }
    }
}
