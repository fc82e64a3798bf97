import TestSupport
import Testing

@testable import PushModel
@testable import PushRouter

@Suite("Events, byte for byte")
struct EventFieldsTests {
    private func event(_ content: AnalyticsEvent.Content) -> AnalyticsEvent {
        AnalyticsEvent(
            id: UUID128(high: 0x0001_8001, low: 0x8000_0000_0000_0002), time: 60, seq: SequenceNumber(2),
            delivery: SequenceNumber(1), externalUserID: "anna", deviceID: "pixel", appID: "shop", platform: .android,
            content: content)
    }

    private func flat(_ event: AnalyticsEvent) -> String {
        var writer = JSONWriter()
        writer.object { $0.members(of: event) }
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    private static let identity =
        #""id":"00000000-0001-8001-8000-000000000002","time":60,"external_user_id":"anna","device_id":"pixel","#
        + #""app_id":"shop","platform":"android""#

    @Test("an open has its button, and null for a tap on the body")
    func open() {
        let push = AnalyticsEvent.Push(campaignID: "summer", messageID: "m")
        let head = #"{"event_type":"users.messages.pushnotification.Open",\#(Self.identity),"campaign_id":"summer","#
        #expect(
            flat(event(.open(push, button: nil)))
                == head + #""message_id":"m","button_action_type":null,"button_string":null}"#)
        let cart = AnalyticsEvent.Button(id: "cart", action: .deepLink)
        #expect(
            flat(event(.open(push, button: cart)))
                == head + #""message_id":"m","button_action_type":"deep_link","button_string":"cart"}"#)
    }

    @Test(
        "the end of a session has its duration in seconds, a number with a fraction",
        arguments: [
            (.zero, "0.000"), (.milliseconds(1), "0.001"), (.milliseconds(12_500), "12.500"),
            (.seconds(86_400), "86400.000"),
        ] as [(Duration, String)])
    func sessionEnd(duration: Duration, text: String) {
        #expect(
            flat(event(.sessionEnd(duration)))
                == #"{"event_type":"users.behaviors.app.SessionEnd",\#(Self.identity),"duration":\#(text)}"#)
    }

    @Test("a change of a token has the token, its device and the change")
    func token() {
        let change = event(.tokenStateChange(.registered, token: "bk3R"))
        #expect(
            flat(change) == #"{"event_type":"users.behaviors.pushnotification.TokenStateChange",\#(Self.identity),"#
                + #""push_token":"bk3R","push_token_device_id":"pixel","push_token_state_change_type":"registered"}"#)
    }

    @Test(
        "any other event has only its user, device, app and time",
        arguments: [.received, .influencedOpen, .iosForeground, .sessionStart, .uninstall] as [AnalyticsEvent.Kind])
    func others(kind: AnalyticsEvent.Kind) {
        #expect(flat(event(.init(kind))) == #"{"event_type":"\#(kind.rawValue)",\#(Self.identity)}"#)
    }

    @Test("an analytics event leaves out unknown facts")
    func unknown() {
        var start = event(.sessionStart)
        (start.externalUserID, start.deviceID, start.appID) = (nil, nil, nil)
        #expect(
            flat(start) == #"{"event_type":"users.behaviors.app.SessionStart","#
                + #""id":"00000000-0001-8001-8000-000000000002","time":60,"platform":"android"}"#)
    }

    @Test("the envelope has the ids in user, and the other facts in properties")
    func envelope() {
        let open = event(.open(.init(campaignID: "summer", messageID: nil), button: nil))
        var writer = JSONWriter()
        writer.object { $0.envelopeMembers(of: open) }
        #expect(
            String(decoding: writer.bytes, as: UTF8.self)
                == #"{"event_type":"users.messages.pushnotification.Open","id":"00000000-0001-8001-8000-000000000002","#
                + #""properties":{"app_id":"shop","platform":"android","campaign_id":"summer","#
                + #""button_action_type":null,"button_string":null},"time":60,"#
                + #""user":{"device_id":"pixel","external_user_id":"anna"}}"#)
    }
}
