import Testing

@testable import PushModel
@testable import PushRouter
@testable import PushViews

@Suite("Routes without a match in an explanation")
struct ExplainedRoutesTests {
    private func unmatched(
        _ routes: Route..., payload: String = #"{"k":"value"}"#, platform: Platform = .android
    ) throws -> [String] {
        let table = RoutingTable(
            routes: routes, handlers: ["crm": Handler(name: "crm", kind: .journal)])
        let document = try JSONDocument(scanning: Array(payload.utf8))
        let explanation = try Explanation(
            DeliverRequest(payload: document.root), platform: platform, table: table)
        let told = explanation.unmatchedRoutes.map { "\($0.callback.rawValue): \($0.route): \($0.reason)" }
        let lines = explanation.text.split(separator: "\n").drop { $0 != "Routes that do not match" }.dropFirst()
        #expect(lines.prefix(told.count).map { String($0.dropFirst(2)) } == told)
        let json = try JSONDocument(scanning: explanation.json).root["unmatched_routes"]?.elements ?? []
        #expect(json.map { $0["reason"]?.string } == explanation.unmatchedRoutes.map(\.reason))
        return told.map { String($0.drop { $0 != " " }.dropFirst()) }
    }

    private func route(_ match: RouteMatch, _ name: String = "r", observes: Bool = false) -> Route {
        Route(name: name, match: match, handler: "crm", observes: observes)
    }

    @Test("name the key that the payload has in another spelling")
    func spellings() throws {
        let match = RouteMatch(data: [.init(key: "order_id", pattern: nil)])
        #expect(
            try unmatched(route(match), payload: #"{"orderId":"7","order":"x"}"#)
                == ["r: Data=order_id: the payload has no key order_id; it has orderId"])
    }

    @Test(
        "are near if the payload has the key in another spelling, and not the key itself",
        arguments: [("order_id", true), ("k", false), ("other", false)])
    func near(_ key: String, _ isNear: Bool) throws {
        let table = RoutingTable(
            routes: [route(RouteMatch(data: [.init(key: key, pattern: Glob("x"))]))],
            handlers: ["crm": Handler(name: "crm", kind: .journal)])
        let payload = try JSONDocument(scanning: Array(#"{"orderId":"7","k":"v"}"#.utf8)).root
        let explanation = try Explanation(DeliverRequest(payload: payload), platform: .android, table: table)
        #expect(explanation.unmatchedRoutes.map(\.isNear) == [isNear])
    }

    @Test("have the actual value for each condition")
    func conditions() throws {
        let matches = [
            (RouteMatch(providers: ["crm"]), "Provider=crm: the payload is of no known provider"),
            (RouteMatch(platforms: [.ios, .web]), "Platform=ios web: it is android"),
            (RouteMatch(callbacks: [.push]), "Callback=push: it is onMessageReceived"),
            (RouteMatch(apps: [Glob("com.*")]), "App=com.*: no app is named (--app)"),
            (RouteMatch(data: [.init(key: "order", pattern: nil)]), "Data=order: the payload has no key order"),
            (RouteMatch(data: [.init(key: "k", pattern: Glob("x*"))]), "Data=k x*: k is \"value\""),
            (
                RouteMatch(keyValues: [.init(key: "kv", pattern: nil)]),
                "KeyValue=kv: the payload has no key-value kv"
            ),
        ]
        for (match, reason) in matches { #expect(try unmatched(route(match)) == ["r: \(reason)"]) }
    }

    @Test("have the length of a value that is too long for patterns")
    func tooLong() throws {
        let payload = #"{"k":"\#(String(repeating: "x", count: 8193))"}"#
        #expect(
            try unmatched(route(RouteMatch(data: [.init(key: "k", pattern: Glob("x*"))])), payload: payload)
                == ["r: Data=k x*: k has 8193 bytes, and only * matches more than 8192"])
        #expect(try unmatched(route(RouteMatch(data: [.init(key: "k", pattern: Glob("*"))])), payload: payload).isEmpty)
    }

    @Test("are listed only if the router tried them: those before the match, and observers")
    func asked() throws {
        let never = RouteMatch(platforms: [.ios])
        #expect(
            try unmatched(
                route(never, "first"), route(RouteMatch(), "second"), route(never, "third"),
                route(never, "fourth", observes: true)
            ) == ["first: Platform=ios: it is android", "fourth: Platform=ios: it is android"])
        let braze = #"{"_ab":"true","t":"T","a":"A"}"#
        #expect(
            try unmatched(route(never, "owner"), route(never, "copy", observes: true), payload: braze)
                == ["copy: Platform=ios: it is android"])
    }

    @Test("the route that takes a callback says by which conditions")
    func taken() throws {
        let match = RouteMatch(
            platforms: [.android], data: [.init(key: "k", pattern: Glob("v*")), .init(key: "k", pattern: nil)])
        let document = try JSONDocument(scanning: Array(#"{"k":"value"}"#.utf8))
        for (match, conditions) in [(match, " (Platform=android, Data=k v*, Data=k)"), (RouteMatch(), "")] {
            let table = RoutingTable(
                routes: [route(match)], handlers: ["crm": Handler(name: "crm", kind: .journal)])
            let explanation = try Explanation(
                DeliverRequest(payload: document.root), platform: .android, table: table)
            #expect(explanation.text.contains("handler crm, by route r\(conditions), within 9000 ms"))
        }
    }
}
