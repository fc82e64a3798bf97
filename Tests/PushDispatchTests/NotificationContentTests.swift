import Testing

@testable import PushModel
@testable import PushRouter

@Suite("The content of a notification")
struct NotificationContentTests {
    private func content(
        _ payload: String, _ platform: Platform = .web, shownBy party: NotificationContent.Party? = nil
    ) throws -> NotificationContent? {
        NotificationContent(try json(payload), platform: platform, shownBy: party)
    }

    private static func letters(_ count: Int) -> String { String(repeating: "x", count: count) }

    @Test(
        "has an icon, an image and a tag of at most 1,024 bytes, without control characters",
        arguments: [
            ("a b", true), ("", false), (#"\u001f"#, false), (#"a\u007f"#, false), (#"\u0080"#, true), (#"\n"#, false),
            (letters(1024), true), (letters(1025), false),
        ])
    func names(_ text: String, _ isKept: Bool) throws {
        let found = try content(#"{"title":"A","icon":"\#(text)","image":"\#(text)","tag":"\#(text)"}"#)
        #expect((found?.icon != nil) == isKept)
        #expect((found?.image != nil) == isKept)
        #expect((found?.tag != nil) == isKept)
    }

    @Test("has a title of at most 512 bytes and a text of at most 4,096, each with an ellipsis if it is cut")
    func lengths() throws {
        for (title, body, isCut) in [(509, 4093, false), (510, 4094, true), (9000, 9000, true)] {
            let found = try content(#"{"title":"\#(Self.letters(title))","body":"\#(Self.letters(body))"}"#)
            #expect(found?.title == Self.letters(509) + (isCut ? "…" : ""))
            #expect(found?.body == Self.letters(4093) + (isCut ? "…" : ""))
        }
        // A text alone is the title.
        #expect(try content(#"{"body":"\#(Self.letters(600))"}"#)?.title == Self.letters(509) + "…")
        // No character is cut in two.
        let two = String(repeating: "ä", count: 300)
        #expect(try content(#"{"title":"\#(two)"}"#)?.title == String(repeating: "ä", count: 254) + "…")
    }

    @Test(
        "has line feeds and tabs, and no other control characters",
        arguments: [
            (#"a\nb"#, "a\nb"), (#"a\tb"#, "a\tb"), (#"a\rb"#, "ab"), (#"a\u001fb"#, "ab"), ("a b", "a b"),
            (#"a\u007fb"#, "ab"), (#"a\u0000b"#, "ab"), (#"a\u0080b"#, "a\u{80}b"),
        ])
    func controls(_ text: String, _ shown: String) throws {
        let found = try content(#"{"title":"\#(text)","body":"\#(text)"}"#)
        #expect(found?.title == shown && found?.body == shown)
    }

    @Test(
        "joins title and subtitle of iOS, and has a text alone as title",
        arguments: [
            (#"{"title":"T","subtitle":"S","body":"B"}"#, "T: S", "B"), (#"{"title":"T","body":"B"}"#, "T", "B"),
            (#"{"subtitle":"S","body":"B"}"#, "B", ""), (#"{"title":" ","subtitle":"S","body":"B"}"#, "B", ""),
            (#""B""#, "B", ""),
        ])
    func subtitle(_ alert: String, _ title: String, _ body: String) throws {
        let found = try content(#"{"aps":{"alert":\#(alert)}}"#, .ios)
        #expect(found?.title == title && found?.body == body)
    }

    @Test("has the first eight buttons that have a title and an id of their own")
    func buttons() throws {
        func ids(_ buttons: String) throws -> [String] {
            try content(#"{"title":"A","actions":[\#(buttons)]}"#)?.buttons.map(\.id) ?? []
        }
        let nine = (1...9).map { #"{"action":"\#($0)","title":"T"}"# }
        #expect(try ids(nine.joined(separator: ",")) == (1...8).map { "\($0)" })
        for button in [
            #"{"action":"1","title":"again"}"#, #"{"action":"","title":"T"}"#, #"{"action":"2","title":" "}"#,
            #"{"action":"2"}"#, #"{"title":"T"}"#, #"{"action":"a\u001f","title":"T"}"#,
            #"{"action":"\#(Self.letters(1025))","title":"T"}"#, #""2""#,
        ] {
            #expect(try ids([nine[0], button, nine[2]].joined(separator: ",")) == ["1", "3"], "\(button)")
        }
    }

    @Test(
        "has the urgency of every word of Android and of web push; only the highest is critical",
        arguments: [
            ("-3", nil), ("-2", .low), ("-1", .low), ("min", .low), ("LOW", .low), ("very-low", .low),
            ("PRIORITY_MIN", .low), ("PRIORITY_LOW", .low), ("0", .normal), ("1", .normal), ("default", .normal),
            ("normal", .normal), ("high", .normal), ("PRIORITY_DEFAULT", .normal), ("PRIORITY_HIGH", .normal),
            ("2", .critical), ("max", .critical), ("critical", .critical), ("PRIORITY_MAX", .critical), ("3", nil),
        ] as [(String, NotificationContent.Urgency?)])
    func urgency(_ word: String, _ urgency: NotificationContent.Urgency?) throws {
        #expect(try content(#"{"title":"A","priority":"\#(word)"}"#, .android)?.urgency == urgency)
    }

    @Test(
        "has the urgency of the interruption level on iOS",
        arguments: [
            ("passive", .low), ("active", .normal), ("time-sensitive", .normal), ("critical", .critical), ("x", nil),
        ] as [(String, NotificationContent.Urgency?)])
    func level(_ word: String, _ urgency: NotificationContent.Urgency?) throws {
        #expect(try content(#"{"aps":{"alert":"A","interruption-level":"\#(word)"}}"#, .ios)?.urgency == urgency)
    }

    @Test("stays if FCM's field sticky is set", arguments: [("1", true), ("true", true), ("0", false), ("yes", false)])
    func sticky(_ value: String, _ stays: Bool) throws {
        let payload = #"{"extras":{"gcm.n.e":"1","gcm.n.title":"A","gcm.n.sticky":"\#(value)"}}"#
        #expect(try content(payload, .android)?.stays == stays)
    }

    @Test(
        "is the block for the system, Braze's keys for its SDK, and both for code of the app",
        arguments: [(.system, "N", ""), (.braze, "T", "A"), (nil, "N", "A")]
            as [(NotificationContent.Party?, String, String)])
    func parties(_ party: NotificationContent.Party?, _ title: String, _ body: String) throws {
        let data = #"{"_ab":"true","t":"T","a":"A"}"#
        let payload = #"{"message":{"token":"x","notification":{"title":"N"},"data":\#(data)}}"#
        let found = try content(payload, .android, shownBy: party)
        #expect(found?.title == title && found?.body == body)
    }

    @Test("on the web has Braze's keys in a payload of Braze without a title")
    func brazeOnTheWeb() throws {
        let found = try content(#"{"cid":"c","t":"T","a":"A","i":"I","img":"M","ri":true}"#)
        #expect(found?.title == "T" && found?.body == "A" && found?.icon == "I" && found?.image == "M")
        #expect(found?.stays == true)
        #expect(try content(#"{"cid":"c","t":"T","a":"A","ri":false}"#)?.stays == false)
        #expect(try content(#"{"cid":7,"t":"T","a":"A"}"#) == nil)
        #expect(try content(#"{"cid":"c","title":"Own","t":"T","a":"A"}"#)?.body == "")
    }
}
