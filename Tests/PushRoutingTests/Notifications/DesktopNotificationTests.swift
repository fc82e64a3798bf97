import Testing

@testable import PushModel
@testable import PushRouter

@Suite("The desktop notification of a payload")
struct DesktopNotificationTests {
    private func content(_ payload: String, _ platform: Platform = .android) throws -> NotificationContent? {
        NotificationContent(try JSONDocument(scanning: Array(payload.utf8)).root, platform: platform)
    }

    private func call(
        _ payload: String, _ platform: Platform = .android, _ rules: NotificationRules = NotificationRules(),
        can capabilities: Set<String> = ["actions", "body-markup"]
    ) throws -> DesktopNotification {
        DesktopNotification(
            try #require(try content(payload, platform)), rules, replacing: 0, capabilities: capabilities)
    }

    @Test(
        "has its title and text, in every form",
        arguments: [
            (#"{"data":{"title":"A","body":"B"}}"#, Platform.android),
            (#"{"title":"A","message":"B"}"#, .android),
            (#"{"notification":{"title":"A","body":"B"}}"#, .android),
            (#"{"extras":{"gcm.n.e":"1","gcm.n.title":"A","gcm.n.body":"B"}}"#, .android),
            (#"{"message":{"topic":"t","notification":{"title":"A","body":"B"}}}"#, .android),
            (#"{"data":{"_ab":"true","t":"A","a":"B"}}"#, .android),
            (#"{"data":{"wzrk_pn":"true","nt":"A","nm":"B","title":"x"}}"#, .android),
            (
                #"{"data":{"com.urbanairship.push.PUSH_ID":"1","com.urbanairship.title":"A","com.urbanairship.push.ALERT":"B"}}"#,
                .android
            ),
            (#"{"data":{"push_from":"moengage","gcm_title":"A","gcm_alert":"B"}}"#, .android),
            (#"{"data":{"custom":"{\"i\":\"1\"}","title":"A","alert":"B"}}"#, .android),
            (#"{"data":{"alert":"urgent","title":"A","body":"B"}}"#, .android),
            (#"{"aps":{"alert":{"title":"A","body":"B"}}}"#, .ios),
            (#"{"message":{"topic":"t","notification":{"title":"A","body":"B"}}}"#, .ios),
            (#"{"title":"A","body":"B"}"#, .web),
            (#"{"notification":{"title":"A","body":"B"}}"#, .web),
            (#"{"message":{"topic":"t","webpush":{"notification":{"title":"A","body":"B"}}}}"#, .web),
        ])
    func texts(payload: String, platform: Platform) throws {
        let content = try content(payload, platform)
        #expect(content?.title == "A" && content?.body == "B", "\(payload)")
    }

    @Test(
        "does not exist without a text",
        arguments: [
            #"{"data":{"sync":"1"}}"#, #"{"data":{"title":" ","body":""}}"#, #"{"data":{"title":7}}"#,
            // CleverTap's, Airship's and OneSignal's SDKs show no push without a body.
            #"{"data":{"custom":"{\"i\":\"1\"}","title":"A"}}"#,
            #"{"data":{"wzrk_pn":"true","nt":"A","nm":""}}"#,
            #"{"data":{"com.urbanairship.push.PUSH_ID":"1","title":"A"}}"#,
        ])
    func nothing(payload: String) throws { #expect(try content(payload) == nil) }

    @Test("has the text as title if there is no title")
    func noTitle() throws {
        let content = try content(#"{"aps":{"alert":"Only this"}}"#, .ios)
        #expect(content?.title == "Only this" && content?.body == "")
    }

    @Test("escapes the text only for a service with body-markup")
    func markup() throws {
        let payload = #"{"data":{"title":"<i>1 & 2</i>","body":"<b>a</b> & <img src=x>"}}"#
        let escaped = try call(payload)
        #expect(escaped.body == "&lt;b&gt;a&lt;/b&gt; &amp; &lt;img src=x&gt;")
        #expect(escaped.summary == "<i>1 & 2</i>", "a title is never markup")
        #expect(try call(payload, can: []).body == "<b>a</b> & <img src=x>")
    }

    @Test("has its buttons, and the click on itself, if the service has actions")
    func buttons() throws {
        let actions = #"[{"action":"yes","title":"Yes"},{"id":"no","title":"No"},{"action":"yes","title":"Again"},7]"#
        let payload = #"{"title":"A","actions":\#(actions)}"#
        #expect(try call(payload, .web).actions == ["default", "", "yes", "Yes", "no", "No"])
        #expect(try call(payload, .web, can: ["body"]).actions == [])
        let text = #"{"title":"A","actions":"[{\"action\":\"yes\",\"title\":\"Yes\"}]"}"#
        #expect(try call(text).actions == ["default", "", "yes", "Yes"], "data values are texts")
        #expect(try call(#"{"title":"A","actions":"[[\"x\"]"}"#).actions == ["default", ""])
    }

    @Test(
        "has the urgency of its priority; only the highest stays until the person acts",
        arguments: [
            (#"{"title":"A"}"#, Platform.android, nil), (#"{"title":"A","priority":"high"}"#, .android, 1),
            (#"{"notification":{"title":"A","notification_priority":"PRIORITY_MIN"}}"#, .android, 0),
            (#"{"extras":{"gcm.n.e":"1","gcm.n.title":"A","gcm.n.notification_priority":"2"}}"#, .android, 2),
            (#"{"aps":{"alert":"A","interruption-level":"passive"}}"#, .ios, 0),
            (#"{"aps":{"alert":"A","interruption-level":"critical"}}"#, .ios, 2),
        ] as [(String, Platform, UInt8?)])
    func urgency(payload: String, platform: Platform, urgency: UInt8?) throws {
        #expect(try call(payload, platform).hints.urgency == urgency)
    }

    @Test("has an icon of the theme; an icon from elsewhere only if the handler's file allows it")
    func icons() throws {
        #expect(try call(#"{"title":"A","icon":"mail-unread"}"#).icon == "mail-unread")
        let rules = NotificationRules(icon: "shop")
        for icon in ["https://example.com/a.png", "/etc/passwd", "file:///etc/passwd", "..", "a b"] {
            let call = try call(#"{"title":"A","icon":"\#(icon)","image":"/dev/zero"}"#, .web, rules)
            #expect(call.icon == "shop" && call.hints.imagePath == nil, "\(icon)")
        }
        let trusting = NotificationRules(takesLocalImages: true)
        #expect(
            try call(#"{"title":"A","image":"file:///a.png"}"#, .web, trusting).hints.imagePath == "file:///a.png")
        #expect(try call(#"{"title":"A","image":"https://a/b.png"}"#, .web, trusting).hints.imagePath == nil)
    }

    @Test("stays as long as file and payload say")
    func expiry() throws {
        #expect(try call(#"{"title":"A"}"#).expireTimeout == -1)
        #expect(try call(#"{"title":"A"}"#, .web, NotificationRules(expires: .seconds(5))).expireTimeout == 5000)
        #expect(try call(#"{"title":"A"}"#, .web, NotificationRules(expires: .zero)).expireTimeout == 0)
        let stays = #"{"title":"A","requireInteraction":true,"silent":true}"#
        #expect(try call(stays, .web, NotificationRules(expires: .seconds(5))).expireTimeout == 0)
        #expect(try call(stays, .web).hints.suppressesSound)
    }

    @Test("is bounded, and has no character that D-Bus cannot carry")
    func bounds() throws {
        let long = String(repeating: "ä", count: 30_000)
        let call = try call(#"{"title":"\#(long)","body":"\#(long)","tag":"\#(long)"}"#)
        #expect(call.summary.utf8.count <= 512 && call.summary.hasSuffix("…"))
        #expect(call.body.utf8.count <= 4096 && call.body.hasSuffix("…"))
        #expect(try self.call(#"{"title":"A\u0000\u0007B","body":"a\nb"}"#).summary == "AB")
        let buttons = (0..<50).map { #"{"action":"\#($0)","title":"T"}"# }.joined(separator: ",")
        #expect(try self.call(#"{"title":"A","actions":[\#(buttons)]}"#, .web).actions.count == 18)
    }
}
