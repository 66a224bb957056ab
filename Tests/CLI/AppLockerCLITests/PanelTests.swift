import Foundation
import TestSupport
import Testing

@testable import AppLockerCLI

struct PanelTests {
    private func mode(_ path: String) throws -> Int {
        let attributes = try FileManager.default.attributesOfItem(atPath: path)
        return (attributes[.posixPermissions] as? NSNumber)?.intValue ?? -1
    }

    @Test func thePageWithTheLinkIsPrivateToTheUserAndIsRemoved() throws {
        let directory = try TemporaryDirectory()
        let link = "http://localhost:8440/#pair=AQ\"<&>x"
        let page = try LinkPage(link: link, places: [nil, directory.path("absent"), directory.path])
        #expect(page.folder.hasPrefix(directory.path + "/applocker-"))
        #expect(try mode(page.folder) == 0o700 && mode(page.path) == 0o600)
        let text = try String(contentsOfFile: page.path, encoding: .utf8)
        #expect(text.contains("url=http://localhost:8440/#pair=AQ&quot;&lt;&amp;&gt;x\"") && !text.contains("<script"))
        page.remove()
        page.remove()
        #expect(!FileManager.default.fileExists(atPath: page.folder))
        #expect(throws: CommandLineError.self) { try LinkPage(link: link, places: [directory.path("absent")]) }
    }

    @Test func aPanelIsNamedAfterItsComputer() {
        #expect(PanelCommand.name(of: "den-pc", beside: ["den-pc", "phone"]) == "den-pc panel")
        #expect(PanelCommand.name(of: "den-pc", beside: ["den-pc panel", "den-pc panel 2"]) == "den-pc panel 3")
        let long = String(repeating: "ä", count: 32)
        let name = PanelCommand.name(of: long, beside: [])
        #expect(name.utf8.count <= 64 && PanelCommand.isPanel(name, of: long))
        for (other, isOne) in [
            ("den-pc panel", true), ("den-pc panel 2", true), ("den-pc", false), ("den-pc panel of Anna", false),
            ("hall-pc panel", false),
        ] {
            #expect(PanelCommand.isPanel(other, of: "den-pc") == isOne, "\(other)")
        }
    }

    @Test func theAddressForABrowserHasAHostName() {
        #expect(PanelCommand.named("http://127.0.0.1:8440") == "http://localhost:8440")
        #expect(PanelCommand.named("https://hub.example") == "https://hub.example")
    }

    @Test func aBrowserRequiresADesktop() {
        #expect(throws: CommandLineError.self) { try Browser.requireDesktop([:]) }
        #expect(throws: Never.self) { try Browser.requireDesktop(["DISPLAY": ":0"]) }
    }
}
