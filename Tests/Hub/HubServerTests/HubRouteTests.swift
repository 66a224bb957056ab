import HubAPI
import Testing

/// Paths are built and matched by one description of the routes.
struct HubRouteTests {
    @Test func everyRouteIsMatchedByItsOwnPath() {
        for route in HubRoute.allCases {
            #expect(HubRoute.match(method: route.method, path: route.path("notes", "0123"))?.route == route)
            #expect(HubRoute.match(method: "OPTIONS", path: route.template)?.route == nil)
            #expect(HubRoute.match(method: route.method, path: route.template + "/")?.route == nil)
        }
        #expect(HubRoute.record.path("notes", "00ff") == "/v1/records/notes/00ff")
        #expect(HubRoute.join.path("00ff") == "/v1/invitations/00ff/join")
        #expect(HubRoute.record.path("a/../b", "é") == "/v1/records/a%2F..%2Fb/%C3%A9")
        #expect(HubRoute.match(method: "GET", path: "/v1/records//00")?.route == nil)
        #expect(HubRoute.match(method: "GET", path: "/v1/blobs/state/state")?.route == .blobState)
    }
}
