import TestSupport
import Testing

@testable import PushModel
@testable import PushRouter

/// A payload of `Tests/Fixtures/payloads/providers`, and its provider.
struct ProviderPayload: Sendable, CustomTestStringConvertible {
    var platform: Platform
    var provider: String?
    var matches: [String]
    var outcome: String?
    var payload: JSONNode
    var testDescription: String

    static let all: [ProviderPayload] = Fixture.list("payloads/providers", suffix: ".json").flatMap { path in
        guard let root = try? JSONDocument(scanning: Fixture.bytes(path)).root else {
            preconditionFailure("\(path) is no JSON")
        }
        return root["cases"]?.elements.map { ProviderPayload($0, in: path) } ?? []
    }

    init(_ node: JSONNode, in path: String) {
        guard let platform = node["platform"]?.string.flatMap(Platform.init(rawValue:)), let payload = node["payload"]
        else { preconditionFailure("\(path): a case has no platform or no payload") }
        self.platform = platform
        self.payload = payload
        provider = node["provider"]?.string
        matches = node["matches"]?.elements.compactMap(\.string) ?? [provider].compactMap(\.self)
        outcome = node["outcome"]?.string
        testDescription =
            "\(path) \(platform) \(String(decoding: payload.rawBytes, as: UTF8.self)): \(node["why"]?.string ?? "")"
    }
}

@Suite("Payloads of each provider")
struct ProviderPayloadTests {
    @Test("match the provider, and similar payloads do not", arguments: ProviderPayload.all)
    func isTold(_ expected: ProviderPayload) throws {
        let delivery = Delivery(platform: expected.platform, payload: expected.payload)
        let decision = try decide(delivery, settings: .shipped)
        #expect(decision.provider == expected.provider)
        #expect(decision.matches == expected.matches)
        if let outcome = expected.outcome { #expect(decision.outcome?.rawValue == outcome) }
    }

    @Test("are numerous, and cover each platform")
    func isComplete() {
        for platform in Platform.allCases {
            #expect(ProviderPayload.all.contains { $0.platform == platform && $0.provider == nil })
        }
        #expect(ProviderPayload.all.count > 290)
    }
}
