import ControlAPI
import Foundation
import LocalControl
import SystemTestSupport
import TestSupport
import Testing

/// Everline in the window: real photos through the real decoder into a real vault, and out again.
@Suite(.windowSession) struct MomentsWindowTests {
    private let fixtures = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appendingPathComponent("../../System/PicturesTests/Fixtures").standardizedFileURL

    private func openEverline(_ session: WindowSession) async throws {
        try await session.startWindow()
        try await session.openVault(on: "alt+6", shows: "No moments")
    }

    /// - Returns: the folder, with two photos of one day and a file that is no photo's.
    private func folder(in session: WindowSession) throws -> String {
        _ = try session.directory.write("", to: "old/list.txt")
        for name in ["everything.jpg", "orientation-6.jpg"] {
            try FileManager.default.copyItem(
                at: fixtures.appendingPathComponent(name),
                to: URL(fileURLWithPath: session.directory.path("old/" + name)))
        }
        try FileManager.default.copyItem(
            at: fixtures.appendingPathComponent("print.jpg"),
            to: URL(fileURLWithPath: session.directory.path("old/damaged.jpg")))
        let whole = try Data(contentsOf: URL(fileURLWithPath: session.directory.path("old/damaged.jpg")))
        try whole.prefix(200).write(to: URL(fileURLWithPath: session.directory.path("old/damaged.jpg")))
        return session.directory.path("old")
    }

    /// By keyboard: search, the two buttons, the menu, the list.
    private func openFirst(_ session: WindowSession) async throws {
        try await session.press(keys: "ctrl+f", "Tab", "Tab", "Tab", "Tab", "Return")
    }

    @Test(arguments: WindowScreenKind.usual)
    func photosAreImportedShownSavedAndExported(on screen: WindowScreenKind) async throws {
        let session = try await WindowSession(on: screen)
        let folder = try folder(in: session)
        try await openEverline(session)
        try await session.press("Import Photos…")
        try await session.chooseInFileChooser(folder, accepting: "alt+i")
        try await session.awaitWords("Import these photos?")
        try await session.press("Import")
        try await session.awaitWords("Imported 2 photos as 1 moment.")
        try await session.awaitWords("damaged.jpg")
        try await session.awaitWords("2024-05-17 18:30 · 2 photos")
        try await session.photograph("everline")
        #expect(FileManager.default.fileExists(atPath: folder + "/everything.jpg"), "the files stay")

        try await openFirst(session)
        try await session.awaitWords("Photo 2 of 2")
        try await session.photograph("everline-moment")
        // As wide as the page, however many share its height; each has its height once its picture is decoded.
        for number in 1...2 {
            try await session.awaiting("photo \(number) is as wide as the page") {
                try await session.parts().contains { $0.name == "Photo \(number) of 2" && $0.height > 400 }
            }
        }
        try await session.press("Favourite")
        await eventually("it is a favourite") {
            try await session.client.call(\.listMoments).moments.first?.favourite == true
        }
        let saved = session.directory.path("saved")
        try FileManager.default.createDirectory(atPath: saved, withIntermediateDirectories: true)
        try await session.press("Save photos")
        try await session.chooseInFileChooser(saved, accepting: "alt+s")
        try await session.awaitWords("Saved 2 photos in")
        #expect(try FileManager.default.contentsOfDirectory(atPath: saved).count == 2)
        try await session.press(keys: "alt+Left")
        try await session.awaiting("the moment is closed") { try await !session.isShown("Photo 2 of 2") }

        let export = session.directory.path("album")
        try FileManager.default.createDirectory(atPath: export, withIntermediateDirectories: true)
        try await session.press("Export…")
        try await session.chooseInFileChooser(export, accepting: "alt+e")
        try await session.enterPasscode(verb: "Export")
        try await session.awaitWords("Wrote 1 moment and 2 photos")
        let page = try String(contentsOfFile: export + "/timeline.html", encoding: .utf8)
        #expect(page.components(separatedBy: "<img").count == 3)
        // Nothing is overwritten.
        try await session.press("Export…")
        try await session.chooseInFileChooser(export, accepting: "alt+e")
        try await session.enterPasscode(verb: "Export")
        try await session.awaitWords("is not empty")

        try await session.awaitWords("♥ 2024-05-17")
        try await openFirst(session)
        try await session.press("Move to trash")
        try await session.press("Move to Trash")
        try await session.awaitWords("No moments")
        #expect(try await titles(session, inTrash: true).count == 1)
    }

    @Test(arguments: WindowScreenKind.both)
    func momentsAreRestoredAndErasedFromTheTrashAndCounted(on screen: WindowScreenKind) async throws {
        let session = try await WindowSession(on: screen)
        try await addMoments(session)
        try await session.startWindow()
        try await session.openVault(on: "alt+6", shows: "At the lake")

        try await session.openMenu("More of Everline")
        try await session.press("Statistics")
        try await session.awaitWords("Days with a moment")
        try await session.awaitWords("2024")
        try await session.photograph("everline-statistics")
        try await session.press(keys: "alt+Left")
        try await session.awaitWords("At the lake")
        // The keys still work.
        try await session.press(keys: "alt+1")
        try await session.awaitWords("No app is locked")
        try await session.press(keys: "alt+6")
        try await session.awaitWords("At the lake")

        try await session.openMenu("More of Everline")
        try await session.press("Trash")
        try await session.awaitWords("2024-05-17 · 30 days left")
        try await session.photograph("everline-trash")
        try await session.press("Restore Museum")
        try await session.awaiting("it left the trash") { try await !session.isShown("Restore Museum") }
        try await session.openMenu("Actions for Picnic")
        try await session.press("Erase…")
        try await session.awaitWords("Erase Picnic?")
        try await session.photograph("everline-erase")
        try await session.press("Cancel")
        #expect(try await titles(session, inTrash: true) == ["Picnic", "Concert", "Cinema"])
        try await session.openMenu("Actions for Picnic")
        try await session.press("Erase…")
        try await session.press("Erase")
        try await session.awaiting("it is erased") {
            try await titles(session, inTrash: true) == ["Concert", "Cinema"]
        }
        try await session.press("Empty Trash…")
        try await session.awaitWords("Erased on all devices: 2 moments.")
        try await session.press("Erase")
        try await session.awaitWords("The trash is empty")
        #expect(try await titles(session, inTrash: true) == [])
        try await session.press(keys: "alt+Left")
        try await session.awaiting("the list shows it") { try await session.isShown("Museum") }
        #expect(try await titles(session, inTrash: false) == ["At the lake", "Museum"])
        // A lock closes the trash.
        try await session.openMenu("More of Everline")
        try await session.press("Trash")
        try await session.awaitWords("The trash is empty")
        try await session.client.call(\.closeVault)
        try await session.awaitWords("The vault is locked")
    }

    private func titles(_ session: WindowSession, inTrash: Bool) async throws -> [String] {
        var filter = MomentFilter()
        filter.trash = inTrash
        return try await session.client.call(\.listMoments, query: filter).moments.map(\.title)
    }

    /// One moment, and four in the trash.
    private func addMoments(_ session: WindowSession) async throws {
        try await session.client.call(\.openVault, body: PasscodeRequest(passcode: WindowSession.passcode))
        for (number, title) in ["At the lake", "Museum", "Picnic", "Concert", "Cinema"].enumerated() {
            let id = String(repeating: "0", count: 31) + String(number)
            try await session.client.call(
                \.addMoment,
                body: NewMoment(
                    id: id, title: title, words: "", date: 1_715_963_405 - Double(number), offset: 120, mood: "joy",
                    place: nil, favourite: false, photos: []))
            guard number > 0 else { continue }
            try await session.client.call(\.changeMoment, parameter: id, body: ChangeMomentRequest(removed: true))
        }
        try await session.client.call(\.closeVault)
    }
}
