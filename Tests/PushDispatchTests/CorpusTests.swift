import TestSupport
import Testing

@testable import PushModel
@testable import PushRouter
@testable import PushViews

/// One entry of `Tests/Fixtures/payloads/expected.json`.
struct Expectation: Sendable, CustomTestStringConvertible {
    var path: String
    var platform: Platform
    var provider: String?
    var matches: [String]
    var kind: String?
    var campaignID: String?

    var testDescription: String { path }

    static let all: [Expectation] = {
        guard let document = try? JSONDocument(scanning: Fixture.bytes("payloads/expected.json")) else { return [] }
        return document.root.members.compactMap { path, value in
            guard let platform = value["platform"]?.string.flatMap(Platform.init(rawValue:)) else { return nil }
            return Expectation(
                path: path, platform: platform, provider: value["provider"]?.string,
                matches: value["matches"]?.elements.compactMap(\.string) ?? ["(none given)"],
                kind: value["braze"]?["kind"]?.string, campaignID: value["braze"]?["campaign_id"]?.string)
        }
    }()
}

@Suite("The corpus")
struct CorpusTests {
    @Test("has an expectation for every payload, and a payload for every expectation")
    func isComplete() {
        let folders = ["braze-android", "braze-ios", "braze-web", "fcm-apns", "other"]
        let files = folders.flatMap { Fixture.list("payloads/\($0)", suffix: ".json") }
        let clicks = ["braze-web/click-notification-data.json", "braze-web/near-click-no-ab-ids.json"]
        #expect(Set(files) == Set((Expectation.all.map(\.path) + clicks).map { "payloads/" + $0 }))
        #expect(files.count > 100)
    }

    @Test("has the expected provider, and for Braze the kind and the campaign", arguments: Expectation.all)
    func isClassified(_ expected: Expectation) throws {
        let payload = try JSONDocument(scanning: Fixture.bytes("payloads/" + expected.path)).root
        let decision = try decide(Delivery(platform: expected.platform, payload: payload), settings: .shipped)
        let isBraze = expected.provider == "braze"
        #expect(decision.provider == expected.provider)
        #expect(decision.matches == expected.matches)
        #expect((decision.braze != nil) == isBraze)
        if let kind = expected.kind {
            #expect(decision.braze?.kind.rawValue == kind)
            #expect(decision.braze?.campaignID == expected.campaignID)
        }
        #expect(decision.invocations.isEmpty == (decision.outcome != nil))
        #expect(decision.invocations.allSatisfy { $0.owner == (isBraze ? .tracker : .route) })
    }

    // Source: FirebaseMessagingServiceRoboTest.java of firebase-android-sdk. FCM drops the second of two equal ids by
    // its list of ids; here each payload is decided alone.
    @Test(
        "runs the callbacks that FCM's own test expects", arguments: Fixture.list("payloads/fcm-apns", suffix: ".json"))
    func keepsVectors(_ path: String) throws {
        let vector = try JSONDocument(scanning: Fixture.bytes(path)).root
        guard let expected = vector["expect"] else { return }
        let state = try #require(vector["app_state"]?.string.flatMap(AppState.init(rawValue:)))
        let decision = try decide(Delivery(platform: .android, state: state, payload: vector))
        for (name, value) in expected.members {
            switch name {
            case "data":
                for (key, text) in value.members { #expect(decision.keys.data(key) == text.string) }
                #expect(decision.keys.data("collapse_key") == nil)
            case "system_tray":
                #expect((decision.outcome == .shownBySystem) == (value.int64 == 1))
            default:
                let callback = try #require(Callback(rawValue: name))
                #expect(decision.callbacks.contains(callback) == (value.int64 != 0))
            }
        }
    }
}
