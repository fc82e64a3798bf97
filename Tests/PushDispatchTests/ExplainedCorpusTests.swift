import TestSupport
import Testing

@testable import PushModel
@testable import PushRouter
@testable import PushViews

/// Each payload of the corpus, explained with one table of routes, as `pushctl explain` prints it.
@Suite("The explanation of the corpus")
struct ExplainedCorpusTests {
    /// Routes that are near many payloads, of which few match.
    private static let table: RoutingTable = {
        func data(_ key: String, _ pattern: String? = nil) -> RouteMatch {
            RouteMatch(data: [.init(key: key, pattern: pattern.map { Glob($0) })])
        }
        var table = RoutingTable(
            routes: [
                Route(name: "10-order", match: data("orderId"), handler: "crm", observes: false),
                Route(name: "20-cid", match: data("CID", "s*"), handler: "crm", observes: false),
                Route(name: "25-ios", match: RouteMatch(platforms: [.ios]), handler: "ios", observes: false),
                Route(name: "40-app", match: RouteMatch(apps: [Glob("com.*")]), handler: "crm", observes: false),
                Route(name: "90-all", match: RouteMatch(), handler: "crm", observes: false),
            ],
            handlers: [
                "crm": Handler(name: "crm", kind: .journal), "ios": Handler(name: "ios", kind: .journal),
            ])
        (table.mode, table.detection) = (.device, .shipped)
        return table
    }()

    private static func lines(_ payload: JSONNode, _ platform: Platform, _ state: AppState) -> [String] {
        do throws(PayloadError) {
            let request = DeliverRequest(
                target: Target(platform: platform, app: "com.example.shop", device: "d1"), state: state,
                payload: payload)
            let text = try Explanation(request, platform: platform, table: table).text
            return text.split(separator: "\n").map(String.init)
        } catch {
            return ["refused: \(error)"]
        }
    }

    @Test("says of each payload what Fixtures/payloads/explained.txt has, and what is otherwise in another state")
    func explained() throws {
        let expected = try JSONDocument(scanning: Fixture.bytes("payloads/expected.json")).root
        var found: [String] = []
        for (path, facts) in expected.members {
            guard let platform = facts["platform"]?.string.flatMap(Platform.init) else { continue }
            let payload = try JSONDocument(scanning: Fixture.bytes("payloads/\(path)")).root
            let plain = Self.lines(payload, platform, .background)
            found += ["==== \(path)"] + plain
            for state in AppState.allCases where state != .background {
                let other = Set(Self.lines(payload, platform, state)).subtracting(plain)
                let lines = Self.lines(payload, platform, state).filter { other.contains($0) }.dropFirst()
                if !lines.isEmpty { found += ["-- \(state.rawValue)"] + lines }
            }
        }
        Fixture.expect(found, in: "payloads/explained.txt")
    }
}
