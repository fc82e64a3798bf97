import Testing

@testable import PushModel
@testable import PushRouter

@Suite("The time for which a push service keeps a message")
struct TimeToLiveTests {
    @Test(
        "is read from each form that states it",
        arguments: [
            (.android, #"{"message":{"token":"t","android":{"ttl":"3.5s"}}}"#, nil, .seconds(4)),
            (.android, #"{"message":{"token":"t"}}"#, nil, nil),
            (.android, #"{"extras":{"google.ttl":"60"}}"#, nil, .seconds(60)),
            (.android, #"{"extras":{"google.ttl":0}}"#, nil, .seconds(0)),
            (.android, #"{"extras":{"k":"v"}}"#, nil, nil),
            (.android, #"{"data":{"ttl":"5"},"ttl":90}"#, nil, .seconds(90)),
            (.android, #"{"ttl":"5"}"#, nil, nil),
            (.ios, #"{"aps":{"alert":"a"}}"#, #"{"apns-expiration":"1700000060"}"#, .until(1_700_000_060)),
            (.ios, #"{"aps":{"alert":"a"}}"#, nil, nil),
            (
                .ios,
                #"{"message":{"token":"t","apns":{"headers":{"APNS-Expiration":"0"},"payload":{"aps":{}}}}}"#, nil,
                .until(0)
            ),
            (
                .web, #"{"message":{"token":"t","data":{"k":"v"},"webpush":{"headers":{"TTL":"30"}}}}"#, nil,
                .seconds(30)
            ),
            (.web, #"{"ttl":"30"}"#, nil, nil),
        ] as [(Platform, String, String?, TimeToLive?)])
    func forms(platform: Platform, payload: String, headers: String?, expected: TimeToLive?) throws {
        let headers = try headers.map { try JSONDocument(scanning: Array($0.utf8)).root }
        let delivery = Delivery(
            platform: platform, payload: try JSONDocument(scanning: Array(payload.utf8)).root, headers: headers)
        #expect(try decide(delivery).timeToLive == expected)
    }

    @Test("is at least zero, and at most the longest time")
    func span() {
        let now = WallTime(milliseconds: 1_700_000_000_500)
        func span(_ time: TimeToLive) -> Duration { time.span(from: now, atMost: .seconds(3600)) }
        #expect(
            span(.seconds(60)) == .seconds(60) && span(.seconds(-1)) == .zero && span(.seconds(.max)) == .seconds(3600))
        #expect(span(.until(1_700_000_060)) == .milliseconds(59_500))
        #expect(span(.until(0)) == .zero && span(.until(.max)) == .seconds(3600) && span(.until(.min)) == .zero)
        let damaged = WallTime(milliseconds: .min)
        #expect(TimeToLive.until(1).span(from: damaged, atMost: .seconds(60)) == .seconds(60))
    }
}
