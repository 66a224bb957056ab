import ControlAPI
import Foundation
import Testing

@testable import DaemonCore

/// docs/control-socket.md has the required authority of each route.
@Suite struct RequiredAuthorityTests {
    /// The second column of the table of routes, by route and in its order.
    private func documented() throws -> [(route: String, who: String)] {
        let page = URL(fileURLWithPath: #filePath).appending(path: "../../../../docs/control-socket.md").standardized
        let text = try String(contentsOf: page, encoding: .utf8)
        let section = try #require(text.firstRange(of: "\n## Routes\n")).upperBound
        let routes = text[section...].prefix(upTo: try #require(text[section...].firstRange(of: "\n## ")).lowerBound)
        return routes.split(separator: "\n").flatMap { line -> [(route: String, who: String)] in
            let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
            guard cells.count >= 2, cells[0].contains("/v1/") else { return [] }
            // `GET`, `PUT /v1/x` are two routes of one path.
            let words = cells[0].split(whereSeparator: { "`, ".contains($0) }).map(String.init)
            var (methods, found): ([String], [String]) = ([], [])
            for word in words {
                if word.hasPrefix("/") {
                    found += methods.map { "\($0) \(word)" }
                    methods = []
                } else {
                    methods.append(word)
                }
            }
            return found.map { ($0, cells[1]) }
        }
    }

    @Test func everyRouteIsDocumentedOnce() throws {
        let routes = try documented().map(\.route)
        #expect(routes.sorted() == ControlRoute.allCases.map(\.rawValue).sorted())
    }

    @Test func theDocumentNamesTheAuthorityThatIsRequired() throws {
        for (text, who) in try documented() {
            let route = try #require(ControlRoute(rawValue: text))
            let expected: RequiredAuthority =
                if who.hasPrefix("session") {
                    .session
                } else if who.hasPrefix("vault") {
                    .vault
                } else if who == "passcode entered before" {
                    .passcodeEnteredBefore
                } else {
                    .anyone
                }
            #expect(route.authority == expected, "\(text): \(who)")
        }
    }
}
