import TestSupport
import Testing

@testable import PushModel
@testable import PushRouter
@testable import PushViews

/// Payloads of each platform with another value in the place of each member, and the lines of the explanation that are
/// otherwise then.
@Suite("Each member of a payload")
struct ProbedPayloadsTests {
    private static let payloads: [(platform: Platform, json: String)] = [
        (
            .android,
            #"{"message":{"token":"t","notification":{"title":"T","body":"B","image":"https://x.example/i"},"data":{"k":"v"},"#
                + #""android":{"priority":"high","ttl":"60s","collapse_key":"c","notification":{"channel_id":"news","#
                + ##""color":"#aabbcc","click_action":"OPEN","notification_count":2,"default_sound":true,"tag":"t"}}}}"##
        ),
        (
            .ios,
            #"{"message":{"token":"t","apns":{"headers":{"apns-priority":"5","apns-push-type":"alert"},"payload":{"aps":{"#
                + #""alert":{"title":"T","body":"B","loc-args":["a"]},"badge":1,"mutable-content":1},"k":"v"}}}}"#
        ),
        (
            .ios,
            #"{"aps":{"alert":{"title":"T","subtitle":"S","body":"B","launch-image":"l"},"badge":3,"sound":{"critical":1,"#
                + #""name":"s","volume":0.5},"thread-id":"t","category":"c","content-available":1,"mutable-content":1,"#
                + #""target-content-id":"w","interruption-level":"active","relevance-score":0.5,"filter-criteria":"f"},"k":"v"}"#
        ),
        (
            .ios,
            #"{"aps":{"alert":"Hi"},"ab":{"c":"spring","cuid":"u","ab_cat":"x"},"ab_uri":"https://x.example","ab_use_webview":"1"}"#
        ),
        (
            .android,
            #"{"_ab":"true","cid":"spring","t":"Sale","a":"Today","uri":"https://x.example","ab_use_webview":"true","nc":"news","#
                + #""p":"2","s":"S","ab_bp":"c1","ab_iu":"https://x.example/i.png","extra":"{\"k\":\"v\"}","ab_a0_a":"ab_open","#
                + #""ab_a0_t":"Open","ab_a0_id":"o","ab_a1_a":"ab_uri","ab_a1_t":"Go","ab_a1_uri":"https://x.example/1"}"#
        ),
        (
            .web,
            #"{"cid":"spring","t":"Sale","a":"Today","img":"https://x.example/i.png","uri":"https://x.example","r":true,"#
                + #""e":{"k":"v"},"b":[{"i":"1","t":"Go","u":"https://x.example/1"}]}"#
        ),
    ]
    private static let values = [
        "null", "true", "0", "1", "-1", "1.5", "101", #""""#, #""0""#, #""1""#, #""x""#, #""true""#, #""10s""#,
        #""normal""#,
        #""passive""#, ##""#12345""##, "[]", #"["x"]"#, "[{}]", "{}", #"{"k":"v"}"#, #"{"body":"B"}"#,
    ].map { ($0, $0) }
    private static let table = RoutingTable(
        routes: [Route(name: "90-all", match: RouteMatch(), handler: "crm", observes: false)],
        handlers: ["crm": Handler(name: "crm", kind: .journal)])

    private static func lines(_ text: String, _ platform: Platform) -> [String] {
        guard let payload = try? JSONDocument(scanning: Array(text.utf8)).root else { return ["no JSON"] }
        var table = table
        table.detection = .shipped
        do throws(PayloadError) {
            let request = DeliverRequest(target: Target(platform: platform), payload: payload)
            return try Explanation(request, platform: platform, table: table).text.split(separator: "\n").map(
                String.init)
        } catch {
            return ["refused: \(error)"]
        }
    }

    @Test("is explained as Fixtures/payloads/members.txt has it")
    func members() {
        var found: [String] = []
        for (platform, json) in Self.payloads {
            let plain = Self.lines(json, platform)
            found += ["", "\(platform.rawValue)"] + plain
            found += ProbedJSON.table(json, probes: Self.values) { text in
                let lines = Self.lines(text, platform)
                let new = Set(lines).subtracting(plain)
                let changed = lines.filter { new.contains($0) }.map { String($0.drop { $0 == " " }) }
                let gone = changed.isEmpty ? plain.filter { !Set(lines).contains($0) }.map { "without\($0)" } : []
                return (changed + gone).joined(separator: " / ")
            }.dropFirst(3)
        }
        Fixture.expect(Array(found.dropFirst()), in: "payloads/members.txt")
    }
}
