import Testing

@testable import PushModel
@testable import PushViews

@Suite("The page of one push", .timeLimit(.minutes(30)))
struct SnapshotTests {
    /// The text between the tags of the main part, white space folded.
    private func shown(_ story: RequestStory) throws -> String {
        let scene = Scene([story])
        (scene.daemon.mayInject, scene.daemon.mayControl) = (false, false)
        let page = try scene.get("/push/\(story.request.seq)")
        try #require(page.status == 200)
        let main = try #require(page.text.split(separator: "<main id=\"main\">").last)
        var (text, isInTag) = ("", false)
        for character in try #require(main.split(separator: "</main>").first) {
            switch character {
            case "<":
                isInTag = true
                text.append(" ")
            case ">": isInTag = false
            default: if !isInTag { text.append(character) }
            }
        }
        for (entity, character) in [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#39;", "'"), ("&amp;", "&")] {
            text = text.split(separator: entity, omittingEmptySubsequences: false).joined(separator: character)
        }
        return text.split { $0.isWhitespace }.joined(separator: " ")
    }

    private static let facts =
        "Accepted 2026-11-24 12:00:00.000 UTC From uid 1000, pid 4242 App com.example.shop Device pixel-1 User anna "
        + "Platform Android, background Mode device Producer's id order-7 Message id m41"
    private static let device = "--app com.example.shop --device pixel-1 --external-id anna --state background"
    private static let curl = "curl -H 'X-Pushrouter: 1' -H 'Content-Type: application/json' -d"
    private static let address = "http://127.0.0.1:18080/api/pushes/41/send"
    private static let target =
        #""at":"2026-11-24T12:00:00Z","platform":"android","app":"com.example.shop","device":"pixel-1","#
        + #""external_id":"anna","state":"background""#
    private static let scenario = "With its interactions, as a file for pushctl test"

    /// The part that shows a push to be sent again.
    private static func copies(_ payload: String, _ expectation: String) -> String {
        "Copy As curl \(curl) '{\"payload\":\(payload)}' \(address) "
            + "As pushctl inject pushctl inject --platform android \(device) - <<'END' \(payload) END "
            + "As a scenario {\"scenario\":\"push 41\",\"mode\":\"device\"} {\"op\":\"deliver\",\(target),"
            + "\"payload\":\(payload)} \(expectation) \(scenario)"
    }

    /// The text of the page of a push of an app's own that the handler `crm` had.
    private static func own(_ sentence: String, _ mark: String, _ steps: String) -> String {
        let payload = #"{"messageId":"m41","data":{"title":"News","k":"v"}}"#
        let expectation = #"{"expect":{"seq":1,"callback":"onMessageReceived","provider":null}}"#
        return "#41 News \(sentence) \(facts) "
            + "Timeline onMessageReceived \(mark) No known provider's, handler crm by route 50-crm "
            + "9 s deadline 10 s ANR 20 s FCM 30 s iOS Waited 0 ms, ran 1200 ms of 9 s. "
            + "onMessageReceived: steps since the acceptance Time Step \(steps) "
            + "Owner and reasons As the configuration decides today. a push of no known provider "
            + "android, app in state background, device mode message m41 "
            + "Why 1. data has no key _ab: the payload is not Braze's "
            + "2. the message has no notification block: FCM calls onMessageReceived, whatever the app is doing "
            + "3. onMessageReceived: no route matches, so it ends as unrouted "
            + "Callbacks onMessageReceived -> nobody "
            + #"Payload As JSON { "messageId": "m41", "data": { "title": "News", "k": "v" } } "#
            + "Received bytes \(payload) As extras of an Intent Keys and their values Key Value title News k v Visible text (text) Title News "
            + "Request and answer Received line \(Sample.plain) " + copies(payload, expectation)
    }

    @Test("tells of a Braze push that the tracker has")
    func handed() throws {
        let payload = #"{"messageId":"m41","data":{"_ab":"true","cid":"spring","t":"Spring sale","a":"All must go"}}"#
        let expectation =
            #"{"expect":{"seq":1,"callback":"onMessageReceived","provider":"braze","outcome":"handed_to_tracker"}}"#
        let rule =
            "braze: the SDK's own test; source: braze-android-sdk 43.0.0, "
            + "BrazeFirebaseMessagingService.isBrazePushNotification"
        let expected =
            "#41 Spring sale Braze's, onMessageReceived, handed to the tracker. \(Self.facts) Campaign spring "
            + "Timeline onMessageReceived ✓ handed_to_tracker Braze's, no handler "
            + "onMessageReceived: steps since the acceptance Time Step 0 ms accepted and decided "
            + "Owner and reasons As the configuration decides today. "
            + "a Braze push, visible, campaign spring; counts for influenced opens "
            + "android, app in state background, device mode a tap: direct open of campaign spring message m41 "
            + #"Why 1. data._ab is exactly "true": the payload is Braze's "#
            + "2. data has both t and a, title and body: Braze's SDK shows a notification "
            + "3. the message has no notification block: FCM calls onMessageReceived, whatever the app is doing "
            + "Rules \(rule) Callbacks onMessageReceived -> tracker of opens "
            + #"Payload As JSON { "messageId": "m41", "data": { "_ab": "true", "cid": "spring", "#
            + #""t": "Spring sale", "a": "All must go" } } "#
            + "Received bytes \(payload) "
            + "As extras of an Intent Keys and their values Key Value _ab true cid spring t Spring sale a All must go "
            + "Visible text (text) Title Spring sale Text All must go "
            + "Request and answer Received line \(Sample.braze) "
            + "Receipts, opens and custom data Events Event Time By request Campaign, button "
            + "local.pushnotification.Received 2026-11-24 12:00:00.000 UTC #41 spring "
            + Self.copies(payload, expectation)
        #expect(try shown(Sample.handed()) == expected)
    }

    @Test("tells of a push that a handler had in time")
    func handled() throws {
        let sentence =
            "No known provider's, onMessageReceived ran handler crm, handled after 1200 ms of 9 s."
        let steps = "0 ms accepted 0 ms handler crm started 1200 ms handled"
        #expect(try shown(Sample.handled()) == Self.own(sentence, "✓ handled", steps))
    }

    @Test("tells of a push whose handler missed the deadline, with what it wrote")
    func timedOut() throws {
        var story = Sample.handled(41, .timedOut)
        story.attempts = [
            AttemptRecord(
                id: InvocationID(seq: SequenceNumber(41), n: 0), route: "50-crm", handler: "crm", asked: .zero,
                started: .milliseconds(3), ended: .milliseconds(1200), answer: .timedOut,
                output: ErrorOutput(Array("cannot reach <crm>\nat once\n".utf8)))
        ]
        let sentence =
            "No known provider's, onMessageReceived ran handler crm, not finished at the deadline after 1200 ms of 9 s."
        let steps =
            "0 ms accepted 3 ms handler crm started 1200 ms not finished at the deadline, killed 1200 ms timed_out "
            + "crm wrote to standard error: cannot reach <crm> at once"
        #expect(try shown(story) == Self.own(sentence, "◷ timed_out", steps))
    }

    @Test("says of an erased push that it is erased, and has nothing to be sent again")
    func erased() throws {
        var story = Sample.handed()
        story.request.body = Array("{}".utf8)
        (story.request.device, story.request.externalID, story.request.id) = (nil, nil, nil)
        story.request.messageID = nil
        story.events = []
        let text = try shown(story)
        #expect(text.hasPrefix("#41 Erased: the payload and the person's data are deleted."))
        #expect(text.contains("Erased: \"pushctl erase\" deleted the payload and the person's data."))
        #expect(!text.contains("curl") && !text.contains("Payload") && !text.contains("Device"))
        // Also for those who may act.
        #expect(try !Scene([story]).get("/push/41").text.contains("method=\"post\""))
    }

    @Test("says of a push in flight that it is, and of one that never was that there is none")
    func others() throws {
        #expect(try shown(Sample.handled(41, nil)).contains("onMessageReceived ran handler crm, in flight."))
        #expect(try shown(Sample.handled(41, nil)).contains("… in_flight"))
        #expect(try Scene().get("/push/41").text.contains("There is no request 41; the last one is 0."))
    }
}
