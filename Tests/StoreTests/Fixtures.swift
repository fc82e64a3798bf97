import TestSupport

@testable import PushModel

/// The smallest records, for tests that are about something else.
enum Fixture {
    static func request(
        _ seq: Int64, id: String? = nil, uid: UInt32 = 1000, acceptedAt: Int64 = 1_760_000_000_000,
        bytes: Int = 10
    ) -> AcceptedRequest {
        AcceptedRequest(
            seq: SequenceNumber(seq), operation: .deliver, id: id, peer: Peer(uid: uid, gid: 100, pid: 4242),
            acceptedAt: Moment(
                monotonic: Instant(nanoseconds: seq &* 1_000_000), wall: WallTime(milliseconds: acceptedAt)),
            boot: UUID128(high: 7, low: 8), mode: .relay, platform: .android, app: "com.example.shop", device: "d1",
            externalID: "u1", messageID: "m\(seq)", body: Array(repeating: UInt8(ascii: "x"), count: bytes))
    }

    static func invocation(_ seq: Int64, n: Int = 0, outcome: Outcome? = .handed) -> InvocationRecord {
        InvocationRecord(
            id: InvocationID(seq: SequenceNumber(seq), n: n), callback: .onMessageReceived, provider: "braze",
            route: nil, handler: nil, budget: .seconds(9), deadline: nil, started: false,
            result: outcome.map {
                InvocationResult(
                    outcome: $0, reason: nil, queue: .zero, exec: .zero, total: .zero, completion: nil,
                    decidedAt: WallTime(milliseconds: 1_760_000_000_001))
            })
    }

    static func event(
        _ seq: Int64, _ kind: AnalyticsEvent.Kind = .received, delivery: Int64? = nil
    ) -> AnalyticsEvent {
        AnalyticsEvent(
            id: UUID128(high: UInt64(seq), low: 5), time: 1_760_000_000, seq: SequenceNumber(seq),
            delivery: SequenceNumber(delivery ?? seq), externalUserID: "u1", deviceID: "d1", appID: "com.example.shop",
            platform: .android, content: .init(kind, campaignID: "c1", messageID: "m\(seq)"))
    }

    static func tracked(_ seq: Int64) -> TrackedRow {
        TrackedRow(
            seq: SequenceNumber(seq), receivedAt: WallTime(milliseconds: seq), since: WallTime(milliseconds: seq),
            isDisplayed: true, hasOwnID: true, uniqueID: nil, digest: nil, buttons: [])
    }

    /// A press of a close button.
    static func interaction(_ cause: Int64, of delivery: Int64, closing button: String) -> InteractionRow {
        InteractionRow(
            cause: SequenceNumber(cause), delivery: SequenceNumber(delivery), verdict: .closed, button: button,
            buttonAction: .close, at: WallTime(milliseconds: cause))
    }

    /// A custom event in a suite.
    static func entry(
        _ number: Int64, cause: Int64 = 1, suite: String = "standard", name: String? = "bought", data: String = "{}",
        savedAt: Int64 = 1_760_000_000_000
    ) -> CustomEntry {
        CustomEntry(
            number: EntryNumber(number), cause: SequenceNumber(cause), kind: .customEvent,
            destination: .stored(suite: suite),
            platform: .android, app: "com.example.shop", device: "d1", externalID: nil, name: name,
            data: Array(data.utf8), time: WallTime(milliseconds: savedAt - 1), savedAt: WallTime(milliseconds: savedAt))
    }

    /// A whole delivery to the tracker: a request, a decided invocation, a receipt.
    static func delivery(
        _ seq: Int64, id: String? = nil, acceptedAt: Int64 = 1_760_000_000_000, bytes: Int = 10
    ) -> [LedgerRecord] {
        [
            .request(request(seq, id: id, acceptedAt: acceptedAt, bytes: bytes)), .invocation(invocation(seq)),
            .event(event(seq)),
        ]
    }
}

extension Outcome {
    static let handed = Outcome.handedToTracker
}
