import ControlAPI
import Foundation
import HeadlessCompanion
import Household
import HubAPI
import HubClient
import LocalControl
import SealedFormats
import SystemTestSupport
import TestSupport
import Testing

/// Everline of a shared vault in the window, with a real hub and a phone that founded the vault.
@Suite(.windowSession) struct SharedVaultWindowTests {
    private let directory: TemporaryDirectory
    private let hub: WindowHub
    private let phone: Companion

    init() async throws {
        directory = try TemporaryDirectory()
        hub = try await WindowHub(state: directory.path("hub"))
        let url = "http://\(hub.address)"
        phone = try await Companion.found(
            at: .init(url: url), role: .computer, name: "Anna's phone", directory: directory.path("phone")
        ) { settings, token in
            try HubClient(
                HubClientSettings(
                    address: HubAddress(settings.url), token: token.map { $0.withUnsafeBytes { Data($0) } }))
        }
        try await phone.write(
            JSONEncoder().encode(["name": "Our garden"]), as: .about,
            id: EpochKeys.vault(of: await phone.roster.household))
        try await phone.writeMoment(title: "First tomato", words: "Red.")
    }

    /// - Returns: the vault's id, once its moment arrived.
    private func join(_ client: ControlClient) async throws -> String {
        try await client.call(\.openVault, body: PasscodeRequest(passcode: WindowSession.passcode))
        let (invitation, link) = try await phone.inviteToVault()
        let id = try await client.call(\.joinVault, body: JoinHubRequest(link: link)).id
        _ = try await phone.admit(by: invitation)
        await eventually("the computer is a member and has the moment") {
            guard try await client.call(\.readVault, parameter: id).state == .member else { return false }
            return try await client.inVault(id).call(\.listMoments).moments.map(\.title) == ["First tomato"]
        }
        try await client.call(\.closeVault)
        return id
    }

    /// The drop-down is beside the search. Its choices: "Mine", "Our garden".
    private func choose(_ position: Int, in session: WindowSession) async throws {
        let downs = [String](repeating: "Down", count: position)
        for key in ["ctrl+f", "Tab", "space", "Home"] + downs + ["Return"] { try await session.press(keys: key) }
    }

    @Test func aSharedVaultIsChosenAndSaysThatThisComputerWasRemoved() async throws {
        let session = try await WindowSession()
        let client = session.client
        let id = try await join(client)
        try await session.startWindow()
        try await session.openVault(on: "alt+6", shows: "No moments")
        try await session.awaiting("there is a choice") { try await session.isShown("Mine") }
        try await choose(1, in: session)
        try await session.awaitWords("First tomato")
        try await session.photograph("everline-shared")
        // The search, the vault, two buttons, the menu, the list.
        try await session.press(keys: "ctrl+f", "Tab", "Tab", "Tab", "Tab", "Tab", "Return")
        try await session.awaitWords("Red.")
        try await session.press("Favourite")
        await eventually("it is a favourite") {
            try await client.inVault(id).call(\.listMoments).moments.first?.favourite == true
        }
        try await session.press(keys: "alt+Left")
        try await session.awaiting("the moment is closed") { try await !session.shows("Red.") }
        try await choose(0, in: session)
        try await session.awaitWords("No moments")
        try await choose(1, in: session)
        try await session.awaitWords("First tomato")

        let own = await phone.secrets.device
        let computer = try #require(await phone.roster.members.first { $0.id != own })
        try await phone.revoke(HubID(computer.id))
        await eventually("the computer has noticed it") {
            try await client.call(\.readVault, parameter: id).state == .removed
        }
        // It is read again with the page.
        try await session.press(keys: "alt+1", "alt+6")
        try await session.awaitWords("Another member removed this computer from this vault.")
        #expect(try await session.shows("First tomato"))
        try await session.photograph("everline-removed")
    }
}
