import ControlAPI
import LocalControl
import SystemTestSupport
import TestSupport
import Testing

/// Categories on the page of apps.
@Suite(.windowSession) struct CategoryWindowTests {
    @Test(.requires(.program("gnome-calculator")), arguments: WindowScreenKind.usual)
    func aCategoryGetsAScheduleLosesAnAppAndIsRemoved(on screen: WindowScreenKind) async throws {
        let session = try await WindowSession(on: screen)
        let client = session.client
        let token = try await session.token()
        let added = try await client.call(\.addApp, token: token, body: AddAppRequest(app: "org.gnome.Calculator"))
        _ = try await client.call(
            \.setCategory, parameter: "games", token: token, body: SetCategoryRequest(apps: added.apps.map(\.id)))
        try await session.startWindow()
        try await session.press(keys: "alt+2")
        try await session.awaitWords("1 app")
        try await session.photograph("categories")
        try await session.press("Edit the category games")
        try await session.awaitWords("Always locked")
        // The first row has the keyboard.
        try await session.press(keys: "space", "Down", "Return")
        try await session.awaitWords("Add Times")
        try await session.photograph("category")
        try await session.press("Save Schedule")
        try await session.enterPasscode()
        try await session.awaiting("it is stored") {
            try await client.call(\.listCategories).categories.first?.schedule?.hasPrefix("block ") == true
        }
        try await session.press("Remove Calculator")
        try await session.enterPasscode()
        try await session.awaiting("the category has no app") {
            try await client.call(\.listCategories).categories.map(\.apps) == [[]]
        }
        try await session.awaitWords("Add Calculator")
        try await session.press("Remove This Category")
        try await session.awaitWords("Its apps stay on the list.")
        try await session.press("Remove")
        try await session.enterPasscode()
        try await session.awaiting("its window closes") { try await !session.isShown("Remove This Category") }
        #expect(try await client.call(\.listCategories).categories.isEmpty)
        #expect(try await client.call(\.listApps).apps.count == 1)
    }
}
