import TestSupport
import Testing

@testable import LinuxSystem
@testable import PushModel
@testable import Store

@Suite("The tracker's taps", .timeLimit(.minutes(30)))
struct TrackerTests {
    private let installation = Installation()

    private static let payload =
        #"{"messageId":"0:1","data":{"_ab":"true","cid":"campaign-1","t":"Title","a":"Text","e":"x"}}"#

    /// Returns the ledger's events of a delivery.
    private func events(of seq: Int64) throws -> [AnalyticsEvent] {
        let reader = try installation.ledger()
        return try #require(try reader.story(of: SequenceNumber(seq))).events
    }

    @Test(
        "opened by seq, by message id or by the payload: one Received, one Open, regardless of later requests",
        arguments: [#""message":1"#, #""message":"0:1""#, #""payload":\#(payload)"#])
    func opens(subject: String) throws {
        let deliver = Requests.deliver(
            #""platform":"android","app":"com.example","external_id":"u1","payload":\#(Self.payload)"#, device: "d1")
        let open = Requests.open(#""platform":"android","app":"com.example","device":"d1",\#(subject)"#)
        do {
            let daemon = try DaemonProcess.ready(installation)
            let client = try installation.injectClient()
            let delivered = try client.outcome(of: deliver)
            #expect(delivered.seq == 1 && delivered.outcome == "handed_to_tracker", "\(delivered)")
            #expect(delivered.completion == #"{"by":"tracker","times":1,"result":"noData"}"#)
            #expect(try events(of: 1).map(\.kind) == [.received])
            #expect(try client.outcome(of: open).reason == "direct open of delivery 1")
            #expect(try client.outcome(of: open).reason == "not counted: delivery 1 was already opened")
            #expect(try daemon.stop() == .exited(0))
        }
        let daemon = try DaemonProcess.ready(installation)
        #expect(try DaemonStatus(of: installation).number("deliveries_tracked") == 1)
        #expect(
            try installation.injectClient().outcome(of: open).reason == "not counted: delivery 1 was already opened")
        daemon.crash()

        let events = try events(of: 1)
        #expect(events.map(\.kind) == [.received, .open])
        #expect(events.map(\.seq) == [SequenceNumber(1), SequenceNumber(2)])
        for event in events {
            #expect(event.push?.campaignID == "campaign-1" && event.deviceID == "d1" && event.appID == "com.example")
            #expect(event.externalUserID == "u1" && event.platform == .android && event.push?.messageID == "0:1")
        }
        #expect(Set(events.map(\.id)).count == 2)
    }

    @Test("opened after a restart counts as without it, on any platform", arguments: Platform.allCases)
    func opensAfterCrash(platform: Platform) throws {
        let payload =
            switch platform {
            case .android: Self.payload
            case .ios: #"{"aps":{"alert":"A"},"ab":{"c":"campaign-1"}}"#
            case .web: #"{"t":"Title","a":"Text","cid":"campaign-1"}"#
            }
        let request = Requests.deliver(#""platform":"\#(platform.rawValue)","payload":\#(payload)"#, device: "d1")
        let first = try DaemonProcess.ready(installation)
        #expect(try installation.injectClient().ask(request).seq == 1)
        first.crash()
        let second = try DaemonProcess.ready(installation)
        let open = Requests.open(#""device":"d1","message":1"#)
        let opened = try installation.injectClient().ask(open)
        #expect(opened.seq == 2)
        second.crash()
        let third = try DaemonProcess.ready(installation)
        defer { withExtendedLifetime(third) {} }
        #expect(
            try installation.injectClient().outcome(of: open).reason == "not counted: delivery 1 was already opened")
        #expect(try events(of: 1).map(\.kind).sorted { "\($0)" < "\($1)" } == [.open, .received])
    }

    @Test("on an unknown delivery, or one that is not Braze's, opens nothing")
    func opensNothing() throws {
        let daemon = try DaemonProcess.ready(installation)
        defer { withExtendedLifetime(daemon) {} }
        let client = try installation.injectClient()
        #expect(try client.outcome(of: Requests.deliver(device: "d1")).outcome == "handled")
        for (subject, outcome) in [
            (#""message":1"#, "handled"), (#""message":"unheard of""#, "handed_to_tracker"),
            (#""payload":{"data":{"k":"v"}}"#, "handled"),
        ] {
            #expect(try client.outcome(of: Requests.open(subject)).outcome == outcome, "\(subject)")
        }
        #expect(try DaemonStatus(of: installation).number("deliveries_tracked") == 0)
        // T8: a tap opens the app, regardless of the notification's provider.
        for seq in 1...4 { #expect(try events(of: Int64(seq)).allSatisfy { $0.kind == .sessionStart }) }
    }
}
