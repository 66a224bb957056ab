import ControlAPI
import Testing

@Suite struct ControlOperationTests {
    @Test func everyRouteWithoutEventsHasTheOperationOfItsName() {
        let operations = Mirror(reflecting: ControlOperations.all).children.map { operation in
            let route = Mirror(reflecting: operation.value).descendant("route") as? ControlRoute
            #expect(operation.label == route.map { "\($0)" })
            return route
        }
        #expect(operations.count == Set(operations).count)
        #expect(Set(operations) == Set(ControlRoute.allCases.filter { !$0.answersEvents }))
    }

    @Test func aQueryIsReadAsItWasWritten() throws {
        let query = LogQuery(after: .max, before: 8, limit: 7, app: "a&b", all: true)
        let fields = Dictionary(uniqueKeysWithValues: query.query)
        #expect(fields == ["after": "9223372036854775807", "before": "8", "limit": "7", "app": "a&b", "all": "true"])
        let read = try LogQuery(query: fields.merging(["unknown": "x"]) { $1 })
        #expect(Dictionary(uniqueKeysWithValues: read.query) == fields)
    }

    @Test func absentFieldsHaveTheirDefaults() throws {
        let query = try LogQuery(query: ["all": "1"])
        #expect(query.after == 0 && query.before == .max && query.limit == 50 && query.app == nil && !query.all)
    }

    @Test(arguments: ["", "x", "0", "1001", "-1", "1.5"]) func aNumberOutOfRangeIsABadRequest(_ text: String) {
        #expect(throws: ControlError(.badRequest, "limit has to be a number from 1 to 1000.")) {
            try LogQuery(query: ["limit": text])
        }
    }
}
