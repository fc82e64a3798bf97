import Testing

@testable import PushModel
@testable import PushRouter

@Suite("Remarks of the rules")
struct ProviderRemarkTests {
    private func remarks(_ platform: Platform, _ payload: String) throws -> [String] {
        DetectionSettings.shipped.remarks(on: try decision(platform, payload))
    }

    @Test("are reported if the rule matches")
    func areTold() throws {
        #expect(
            try remarks(.ios, #"{"aps":{},"itbl":{}}"#) == [
                "Iterable: itbl is enough for apps; the SDK's own inspector wants a boolean isGhostPush in it"
            ])
        #expect(
            try remarks(.ios, #"{"aps":{},"messageId":"m","internalData":{}}"#) == [
                "Infobip: the SDK looks for messageId alone; the rule is narrowed by us to payloads that have "
                    + "internalData too"
            ])
        #expect(
            try remarks(.web, #"{"cid":"c","t":"T"}"#) == [
                "Braze: the test in later service workers of Braze is not public: the rule is an interpretation"
            ])
        #expect(try remarks(.android, #"{"itbl":"{}"}"#) == [], "it is iOS's")
        #expect(try remarks(.ios, #"{"aps":{}}"#) == [])
    }

    @Test("are reported if their own condition holds, whatever the provider")
    func ownCondition() throws {
        let remark = [
            "Airship: the SDK's own receiver takes Accengage's key a4sid too (IncomingPushRunnable.kt), "
                + "isAirshipPush does not"
        ]
        #expect(try decision(.android, #"{"a4sid":"1"}"#).provider == nil)
        #expect(try remarks(.android, #"{"a4sid":"1"}"#) == remark)
        #expect(try remarks(.android, #"{"a4sid":"1","_k":""}"#) == remark)
        #expect(try remarks(.android, #"{"com.urbanairship.metadata":"x"}"#) == [])
    }
}

@Suite("Many rules")
struct ManyRulesTests {
    @Test("beyond the bits of the index are tried all the same, in order")
    func more() throws {
        let rules = (0..<150).map { number in
            ProviderRule(
                name: "p\(number)", title: "P",
                platforms: [.android: .init(order: number + 1, all: [.value(at: ["k\(number)"], .present)])])
        }
        let payload = Delivery(platform: .android, payload: try json(#"{"k149":"1","k63":"1","k64":"1","k0":"1"}"#))
        let settings = DetectionSettings(providers: rules.shuffled())
        #expect(try decide(payload, settings: settings).matches == ["p0", "p63", "p64", "p149"])
    }

    @Test("find their keys among keys that were made to collide, or hide in escapes")
    func escapes() throws {
        #expect(try decision(.android, #"{"\u0069tbl":"x"}"#).provider == "iterable")
        #expect(try decision(.android, #"{"pin\u0070oint.x":"x"}"#).provider == "pinpoint")
    }
}
