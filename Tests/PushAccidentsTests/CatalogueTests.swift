import TestSupport
import Testing

@testable import PushModel
@testable import PushRouter
@testable import PushSettings
@testable import PushViews

@Suite("The catalogue of accidents")
struct CatalogueTests {
    /// The failed checks of an accident's scenario.
    private func failures(of name: String, by sources: ConfigurationSources = .shipped) throws -> [Check] {
        let accident = try #require(Accident.named(name))
        let table = try #require(Settings.load(sources).settings?.routing)
        let scenario = try Scenario(accident.scenario)
        #expect(scenario.title == accident.title)
        let result = scenario.run(
            table: table, tracker: Tracker(stateID: UUID128(high: 0, low: 0), rules: table.tracking))
        #expect(result.checks.count >= 3)
        return result.checks.filter { $0.failure != nil }
    }

    /// The text of an accident from `explain --example` with the shipped configuration.
    private func story(of name: String) throws -> String {
        let table = try #require(Settings.load(.shipped).settings?.routing)
        return try #require(Accident.named(name)).text(by: table)
    }

    @Test("has every file of its folder")
    func files() {
        let files = TestSupport.names(in: "\(packageRoot)/Sources/Core/PushViews/Accidents/Catalogue")
        #expect(files.sorted() == Accident.names.map { "\($0).accident" }.sorted())
    }

    @Test("has requests that a daemon accepts as often as it gets them", arguments: Accident.names)
    func requests(name: String) throws {
        let requests = try #require(Accident.named(name)).requests
        #expect(!requests.isEmpty)
        for document in requests {
            let request = try Request(document)
            guard case .deliver(let deliver) = request.action else {
                Issue.record("no delivery: \(request)")
                continue
            }
            #expect(request.id == nil && deliver.target.platform != nil)
        }
    }

    @Test("is true: each expectation of each scenario holds", arguments: Accident.names)
    func scenarios(name: String) throws {
        #expect(try failures(of: name) == [])
    }

    @Test(
        "explains each accident by the deciding rule",
        arguments: [
            ("notification-block", "No callback of the app runs; the outcome is shown_by_system", "its open is lost"),
            ("two-owners", "two owners: the rules of Braze and Mixpanel match", "handlers of Mixpanel do not get it"),
            ("silent-tap", "silent, Braze's SDK shows nothing", "the user sees nothing to tap"),
            ("no-braze-instance", "so it ends as sdk_not_ready", "sdk is nil"),
            ("completion", "iOS calls didReceiveRemoteNotification", #""script":{"answers":2"#),
            ("slow-handler", "onMessageReceived -> handler journal", #""script":{"takes_ms":12000}"#),
            ("own-message-id", "onMessageReceived -> handler journal", "FCM's own repeat has its own id"),
            ("force-stopped", "Android runs no code of it until the user starts it", "iOS does not wake it"),
            ("own-receiver", "OneSignal's SDK has a receiver of its own", "the outcome is own_receiver"),
            ("web-click", "the payload names no campaign", "an open of it cannot be attributed"),
        ])
    func explanations(name: String, fact: String, other: String) throws {
        let parts = try story(of: name).split(separator: "\nThe fix\n")
        try #require(parts.count == 2)
        let before = parts[0]
        #expect(before.contains(fact))
        #expect(before.contains(other) || parts[1].contains(other))
        #expect(before.contains("\nThe result\n  - "))
        #expect(parts[1].contains("\nThe result after the change\n  - "))
        #expect(parts[1].contains("\nSources\n  - "))
    }

    @Test("prints the explanation of a payload once, if two are equal")
    func same() throws {
        let story = try story(of: "slow-handler")
        #expect(story.contains("\nfast: as for slow\n"))
        #expect(story.contains("\nenqueued: as for slow\n"))
    }

    @Test(
        "fails an accident's scenario under another rule",
        arguments: [
            ("notification-block", "braze"), ("two-owners", "mixpanel"), ("silent-tap", "braze"),
            ("no-braze-instance", "braze"), ("force-stopped", "braze"), ("own-receiver", "onesignal"),
            ("web-click", "braze"),
        ])
    func withoutProvider(name: String, provider: String) throws {
        var sources = ConfigurationSources.shipped
        sources.providers = [ConfigurationFile(path: "providers.d/\(provider).provider", bytes: [])]
        #expect(try failures(of: name, by: sources) != [])
    }

    @Test("fails an accident's scenario with more time for the handler", arguments: ["completion", "slow-handler"])
    func otherDeadline(name: String) throws {
        var sources = ConfigurationSources.shipped
        sources.main = [ConfigurationFile(path: "pushrouterd.conf", bytes: Array("[Deadline]\nBudget=5s\n".utf8))]
        #expect(try failures(of: name, by: sources) != [])
    }

    @Test("gives programs the same as JSON, with the scenario as a file")
    func json() throws {
        let table = try #require(Settings.load(.shipped).settings?.routing)
        for accident in Accident.catalogue {
            let root = try JSONDocument(scanning: try accident.json(by: table)).root
            #expect(root["name"]?.string == accident.name)
            let lines = root["scenario"]?.string?.split(separator: "\n").map { Array($0.utf8) }
            #expect(lines == accident.scenario)
            let deliveries = root["accident"]?["deliveries"]?.elements ?? []
            #expect(deliveries.first?["explanation"]?["reasons"]?.elements.isEmpty == false)
            #expect(root["mended"]?["facts"]?.elements.isEmpty == false)
        }
    }

    @Test(
        "refuses a file without a head, with a missing field, or with malformed ids",
        arguments: [
            ("{}", "x: no head"), ("{\n}\n", "x: title is missing"),
            (
                "{\"title\":\"\",\"story\":\"\",\"fix\":\"\",\"accident\":[\"a\"],\"mended\":[\"b\"]\n}\n",
                "x: accident and mended are the ids of deliveries, in their order"
            ),
            (
                "{\"title\":\"\",\"story\":\"\",\"fix\":\"\",\"accident\":[\"a\"],\"mended\":[\"b\"]\n}\n"
                    + "{\"op\":\"session\",\"id\":\"a\",\"kind\":\"start\",\"app\":\"x\"}\n",
                "x: a is no delivery, or names no platform"
            ),
        ])
    func wrong(text: String, message: String) {
        let error = #expect(throws: AccidentError.self) { try Accident(name: "x", file: Array(text.utf8)) }
        #expect(error?.message == message)
    }
}

/// The directory of the package.
private let packageRoot: String = {
    let here = #filePath
    guard let end = here.indices.last(where: { here[$0...].hasPrefix("/Tests/") }) else {
        preconditionFailure("\(here) is not below Tests")
    }
    return String(here[..<end])
}()
