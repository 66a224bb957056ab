import ControlAPI
import Testing

@Suite struct ControlRouteTests {
    @Test func parametersArePercentEncoded() {
        #expect(ControlRoute.removeApp.path("../status?x=1") == "/v1/apps/..%2Fstatus%3Fx%3D1")
        #expect(ControlRoute.answerPrompt.path("7") == "/v1/prompts/7/answer")
        #expect(ControlRoute.setCategory.path("Spiele ä") == "/v1/categories/Spiele%20%C3%A4")
        #expect(ControlRoute.status.path() == "/v1/status")
    }

    @Test(arguments: ControlRoute.allCases)
    func everyRouteHasAMethodAndAnAbsolutePath(route: ControlRoute) {
        #expect(["GET", "POST", "PUT", "PATCH", "DELETE"].contains(route.method))
        #expect(route.template.hasPrefix("/v1/"))
    }

    @Test(arguments: ControlError.Code.allCases)
    func everyErrorCodeIsAnHTTPFailure(code: ControlError.Code) {
        #expect((400..<600).contains(ControlError(code, "").status))
    }
}
