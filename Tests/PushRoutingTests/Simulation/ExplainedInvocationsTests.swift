import Testing

@testable import PushModel
@testable import PushRouter
@testable import PushViews

/// `explain` lists the invocations; the router runs them. Both read the callbacks, the routes and the observers.
@Suite("An explanation lists what the router does", .timeLimit(.minutes(30)))
struct ExplainedInvocationsTests {
    private static let payloads: [(Platform, String)] = [
        (.android, #"{"k":"v"}"#), (.android, #"{"a":"1"}"#), (.android, Payload.braze()),
        (.android, #"{"extras":{"message_type":"deleted_messages"}}"#),
        (.android, #"{"extras":{"message_type":"deleted_messages","a":"1"}}"#),
        (.android, #"{"notification":{"title":"t"},"data":{"a":"1"}}"#),
        (.android, #"{"action":"com.google.firebase.messaging.NEW_TOKEN","extras":{"token":"t"}}"#),
        (.ios, #"{"aps":{"alert":"x","content-available":1},"a":"1"}"#), (.ios, #"{"aps":{"alert":"x"}}"#),
        (.ios, #"{"aps":{"alert":"x","mutable-content":1},"k":"v"}"#),
        (.ios, #"{"aps":{"alert":"x","content-available":1,"mutable-content":1},"ab":{"c":"c"}}"#),
        (.ios, #"{"aps":{"content-available":1},"a":"1"}"#), (.web, #"{"a":"1"}"#), (.web, #"{"ab_ids":{"cid":"c"}}"#),
    ]

    private static let tables: [RoutingTable] = {
        let handlers = ["one", "two", "watch"].map { Handler(name: $0, kind: .journal) }
        let observer = Route(name: "00-watch", match: RouteMatch(), handler: "watch", observes: true)
        let picky = Route(
            name: "01-watch", match: RouteMatch(callbacks: [.willPresent, .onMessageReceived]), handler: "two",
            observes: true)
        let tables: [RoutingTable] = [
            [], [.key("a", to: "one")], [.key("a", to: "one"), .all(to: "two")], [observer, picky, .all(to: "one")],
        ]
        .map { .testing(routes: $0, handlers: handlers) }
        guard var beside = tables.last else { return tables }
        beside.interaction.receiverApps = [Glob("sh*")]
        return tables + [beside]
    }()

    @Test("callback, owner, route, handler and copy, in every state of the app", arguments: payloads)
    func agree(_ platform: Platform, _ payload: String) throws {
        for table in Self.tables {
            for state in AppState.allCases {
                let request = Request.deliver(payload, platform: platform, state: state)
                guard case .deliver(let deliver) = request.action else { preconditionFailure("it is a delivery") }
                var bench = Bench(table)
                try bench.submit(request)
                let rows = bench.ledger.rows.values.sorted { $0.id.n < $1.id.n }
                let done = rows.filter { $0.callback != .none }.map { row in
                    let owner = row.result?.outcome == .handedToTracker ? "tracker" : row.handler ?? "nobody"
                    return "\(row.callback) \(row.route ?? "-") \(owner)\(row.isObserver ? ", a copy" : "")"
                }
                let explanation = try Explanation(deliver, platform: platform, table: table)
                let told = explanation.invocations.map { invocation in
                    let owner = invocation.planned.owner == .tracker ? "tracker" : invocation.handler ?? "nobody"
                    let copy = invocation.isObserver ? ", a copy" : ""
                    return "\(invocation.planned.callback) \(invocation.route ?? "-") \(owner)\(copy)"
                }
                #expect(told == done, "\(state), \(table.routes.map(\.name))")
            }
        }
    }
}
