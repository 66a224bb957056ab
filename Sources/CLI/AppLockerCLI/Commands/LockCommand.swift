import ArgumentParser
import ControlAPI
import Foundation
import LocalControl

struct LockCommand: ConnectedCommand {
    static let configuration = CommandConfiguration(
        commandName: "lock",
        abstract: "Lock apps now; add them to the list if needed.",
        discussion: """
            Locking an app that was unlocked for you needs no passcode. Adding an app to the list, or locking one that was unlocked for another user, asks for it.

              applocker lock firefox-esr
              applocker lock "LibreOffice Calc" /opt/game/run
              applocker lock --all
            """)

    @OptionGroup var selection: AppSelection
    @OptionGroup var options: CommonOptions

    func run() async throws {
        let request = LockRequest(apps: selection.resolved, all: selection.all)
        try await owner.whereNeeded { try await client.call(\.lock, token: $0, body: request) }.print(output)
    }
}

struct UnlockCommand: ConnectedCommand {
    static let configuration = CommandConfiguration(
        commandName: "unlock",
        abstract: "Unlock apps for a time.",
        discussion: """
            Without --for, --once or --until-locked: for the default time of the settings (5 minutes unless changed).

              applocker unlock firefox-esr
              applocker unlock firefox-esr --for 1h
              applocker unlock firefox-esr --once          its next start and every program that this starts
              applocker unlock --all --until-locked
              applocker unlock firefox-esr --passcode-fd 3 3< <(secret-tool lookup app applocker)
            """)

    @OptionGroup var selection: AppSelection
    @Option(
        name: .customLong("for"),
        help: ArgumentHelp("How long, from 30s to 1h: 30s, 5m, 1h, 1h30m.", valueName: "time"))
    var length: DurationArgument?
    @Flag(help: "For one launch and what it starts.")
    var once = false
    @Flag(help: "Until it is locked, the computer sleeps, or it is idle.")
    var untilLocked = false
    @OptionGroup var options: CommonOptions

    func validate() throws {
        if [length != nil, once, untilLocked].filter({ $0 }).count > 1 {
            throw ValidationError("Use only one of --for, --once and --until-locked.")
        }
    }

    private var grant: GrantRequest {
        if once { return GrantRequest(.thisLaunch) }
        if untilLocked { return GrantRequest(.untilLocked) }
        return GrantRequest(.duration, seconds: length?.seconds)
    }

    func run() async throws {
        try await client.requireSetUp()
        let request = UnlockRequest(
            apps: selection.resolved, all: selection.all, grant: grant,
            passcode: try await passcodes.existing().text)
        // Such a grant leaves the app guarded, so that the gate sees the launch that uses it.
        try await client.call(\.unlock, body: request).print(output) {
            once ? "unlocked for its next launch" : $0.stateText
        }
    }
}
