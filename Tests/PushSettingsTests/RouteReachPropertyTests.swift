import Glibc
import TestSupport
import Testing

@testable import PushModel
@testable import PushRouter
@testable import PushSettings

@Suite("Routes behind many earlier ones")
struct RouteReachPropertyTests {
    private static let handlers = ["program": "[Handler]\nType=exec\nExec=/bin/true"]

    /// Returns a route file with few different conditions, so that many routes cover others.
    private static func route(_ random: inout SeededGenerator) -> String {
        func words(_ key: String, _ all: [String], _ random: inout SeededGenerator) -> String {
            guard Int.random(in: 0..<3, using: &random) == 0 else { return "" }
            let some = (0..<Int.random(in: 1...3, using: &random)).map { _ in all.randomElement(using: &random) ?? "" }
            return "\(key)=\(some.joined(separator: " "))\n"
        }
        func conditions(_ key: String, _ random: inout SeededGenerator) -> String {
            (0..<max(0, Int.random(in: -2...2, using: &random))).map { _ in
                "\(key)=\(["a", "b", "c"].randomElement(using: &random) ?? "") \(["", "x", "x*y*z"].randomElement(using: &random) ?? "")\n"
            }.joined()
        }
        return "[Match]\n" + words("Platform", ["ios", "android", "web"], &random)
            + words("App", ["com.a", "com.b", "com.*"], &random) + words("Provider", ["none", "braze"], &random)
            + words("Callback", ["willPresent", "onNewToken", "push", "onMessageReceived"], &random)
            + conditions("Data", &random) + conditions("KeyValue", &random)
            + "[Route]\nHandler=\(["journal", "program"].randomElement(using: &random) ?? "")\n"
            + (Int.random(in: 0..<8, using: &random) == 0 ? "Observe=yes\n" : "")
    }

    /// Returns the warnings about a route by the rule itself, which looks at every earlier route.
    private static func warning(of route: Route, after earlier: [Route]) -> String? {
        guard !route.observes, !route.match.isOnlyBroadcast else { return nil }
        if let first = earlier.first(where: {
            !$0.observes && $0.handler == "journal" && $0.match.covers(route.match)
        }) {
            return
                "routes.d/\(route.name).route: warning: never applies: \(first.name) comes first and matches everything "
                + "that this route matches"
                + (route.match.isNeverBroadcast ? "" : ", except for token and deleted-messages callbacks")
        }
        return earlier.first { !$0.observes && $0.match == RouteMatch() }.map {
            "routes.d/\(route.name).route: warning: applies only where the handler \($0.handler) declines "
                + "(exit status 80): \($0.name) comes first and matches everything"
        }
    }

    @Test("get the warnings that a look at every earlier route gives", arguments: 1...20)
    func sameWarnings(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var routes: [String: String] = [:]
        for number in 100..<220 { routes["\(number)"] = Self.route(&random) }
        let (settings, diagnostics) = load(handlers: Self.handlers, routes: routes)
        let all = settings?.routing.routes ?? []
        #expect(all.count == 121)
        let expected = all.indices.compactMap { Self.warning(of: all[$0], after: Array(all[..<$0])) }
        #expect(expected.count > 10)
        #expect(diagnostics.filter { $0.has("comes first") } == expected)
    }

    /// Reads routes of one form, and returns the time of the processor.
    private static func time(of count: Int, _ match: (Int) -> String) -> Duration {
        var routes: [String: String] = [:]
        for number in 0..<count {
            routes["\(100_000 + number)"] = "[Match]\n\(match(number))[Route]\nHandler=journal\n"
        }
        let before = clock()
        let (settings, _) = load(routes: routes)
        #expect(settings?.routing.routes.count == count + 1)
        return .microseconds(clock() - before)
    }

    @Test(
        "are read in a time that grows with their number, not with its square",
        arguments: ["app", "data", "app and data", "one of several conditions"])
    func linear(form: String) {
        let match: (Int) -> String = { number in
            switch form {
            case "app": "App=app\(number)\n"
            case "data": "App=app\nData=k\(number)\n"
            case "app and data": "App=app\(number / 50)\nData=k\(number % 50)\n"
            default: "App=app\nProvider=none\nPlatform=ios\nData=a x\(number)\nKeyValue=k\n"
            }
        }
        let (few, many) = (Self.time(of: 500, match), Self.time(of: 4_000, match))
        #expect(many < few * 24, "\(few) for 500 routes, and \(many) for 4,000")
    }
}
