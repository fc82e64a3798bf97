public import PushModel

/// A random day of a few devices: the lines of a scenario, with crashes.
public struct RandomDay {
    /// An event of the day.
    public enum Event {
        /// A request with its script.
        case request(at: WallTime, line: String, script: String)
        /// The daemon crashes before it has written `lost`, and restarts.
        case crash(at: WallTime, downtime: Int64, reboots: Bool, lost: Lost)
    }

    /// The records that the daemon had not written when it crashed.
    public enum Lost {
        case nothing
        /// Its decision about the next request.
        case request(String)
        /// Its decision about due timers.
        case due
    }

    private var random: SeededGenerator
    private var time: Int64 = 1_700_000_000_000
    /// The number of requests so far, which is about the number of the last one.
    private var sent = 0
    /// Recent interactions, which the day repeats at random.
    private var recentInteractions: [[String]] = []
    private let payloads = RandomPayloads()
    /// The events in order.
    public private(set) var events: [Event] = []

    /// - Parameters:
    ///   - seed: the same seed gives the same day.
    ///   - requests: the number of requests.
    public init(seed: UInt64, requests: Int) {
        random = SeededGenerator(seed: seed)
        for number in 1...requests {
            let line = request()
            if number > 1, one(in: 60) {
                let press = one(in: 2) ? queue() : nil
                crash(before: line)
                if let press { send(press, script()) }
            }
            send(line, script())
            time += one(of: [0, 0, 1, 3, 40, 200, 900, 1500, 2500, 4900, 5001, one(in: 20) ? 600_000 : 9000])
        }
    }

    private mutating func one(in count: Int) -> Bool { Int.random(in: 0..<count, using: &random) == 0 }

    private mutating func one<Value>(of values: [Value]) -> Value {
        values[Int.random(in: 0..<values.count, using: &random)]
    }

    private mutating func send(_ line: (Int64) -> String, _ script: String) {
        events.append(.request(at: WallTime(milliseconds: time), line: line(time), script: script))
        sent += 1
    }

    /// Adds several deliveries to one device, the first of which takes long, and a tap on it: the next start has to
    /// resume the waiting ones. On another device it presses a close button.
    ///
    /// - Returns: that press, for a repetition.
    private mutating func queue() -> (Int64) -> String {
        let target = [#""app":"shop""#, #""device":"\#(one(of: ["a", "b", "c"]))""#]
        let message = "queue-\(sent)"
        for place in 0..<5 {
            let first = ("android", #"{"extras":{"google.message_id":"\#(message)","order_id":"4"}}"#)
            let (platform, payload) = place == 0 ? first : payloads.delivered(&random)
            let members = [#""op":"deliver""#, #""platform":"\#(platform)""#, #""payload":\#(payload)"#] + target
            send({ Self.line(members, at: $0) }, place == 0 ? #"{"takes_ms":\#(one(of: [3000, 9500]))}"# : script())
        }
        let tap = [#""op":"interact""#, #""kind":"opened""#, #""message":"\#(message)""#] + target
        send({ Self.line(tap, at: $0) }, script())
        let closed = payloads.android("summer", #""braze_id":"profile-1""#, "closed-\(sent)")
        let delivery = [#""op":"deliver""#, #""device":"d""#, #""platform":"android""#, #""payload":\#(closed)"#]
        let press = [
            #""op":"interact""#, #""device":"d""#, #""kind":"action""#, #""action":"1""#,
            #""message":"closed-\#(sent)""#,
        ]
        send({ Self.line(delivery, at: $0) }, script())
        send({ Self.line(press, at: $0) }, script())
        time += one(of: [0, 1, 700])
        return { Self.line(press, at: $0) }
    }

    private static func line(_ members: [String], at time: Int64) -> String {
        "{" + (members + [#""at":\#(time)"#]).joined(separator: ",") + "}"
    }

    private mutating func crash(before line: (Int64) -> String) {
        let lost: Lost = one(of: [.nothing, .due, .request(line(time))])
        let downtime: Int64 = one(of: [0, 0, 50, 3000, 20_000])
        let reboots = one(in: 4)
        events.append(.crash(at: WallTime(milliseconds: time), downtime: downtime, reboots: reboots, lost: lost))
        time += downtime
    }

    // MARK: Requests

    private mutating func request() -> (Int64) -> String {
        let number = sent + 1
        var members: [String]
        switch Int.random(in: 0..<100, using: &random) {
        case 0..<50: members = deliver(number)
        case 50..<80: members = interact(number)
        case 80..<90: members = [#""op":"session""#, #""kind":"\#(one(of: ["start", "start", "end"]))""#] + target()
        case 90..<94:
            members = [#""op":"token""#, #""kind":"\#(one(of: ["new", "registered", "unregistered"]))""#] + target()
            members.append(#""token":"t\#(Int.random(in: 0..<9, using: &random))""#)
        default: members = log()
        }
        if one(in: 2) { members.append(#""id":"request-\#(number)""#) }
        return { Self.line(members, at: $0) }
    }

    private mutating func target(hasPlatform: Bool = true) -> [String] {
        var members: [String] = []
        if hasPlatform, one(in: 2) { members.append(#""platform":"\#(one(of: ["android", "ios", "web"]))""#) }
        if !one(in: 4) { members.append(#""app":"\#(one(of: ["shop", "shop", "news"]))""#) }
        if !one(in: 5) { members.append(#""device":"\#(one(of: ["a", "b", "c", "d", "\u{e9}", "f"]))""#) }
        if one(in: 3) { members.append(#""external_id":"\#(one(of: ["anna", "bert"]))""#) }
        return members
    }

    private mutating func deliver(_ number: Int) -> [String] {
        let (platform, payload) = payloads.delivered(&random)
        var members = [#""op":"deliver""#, #""payload":\#(payload)"#] + target(hasPlatform: false)
        if !one(in: 8) { members.append(#""platform":"\#(platform)""#) }
        if one(in: 2) {
            let states = ["foreground", "background", "terminated", "force_quit", "force_stopped"]
            members.append(#""state":"\#(one(of: states))""#)
        }
        if one(in: 3) { members.append(#""sdk":"\#(one(of: ["nil", "delayed"]))""#) }
        if one(in: 8) { members.append(#""notifications":"denied""#) }
        if one(in: 8) { members.append(#""os_version":"\#(one(of: ["13.7", "17"]))""#) }
        return members
    }

    private mutating func interact(_ number: Int) -> [String] {
        if !recentInteractions.isEmpty, one(in: 5) { return one(of: recentInteractions) }
        var members = [#""op":"interact""#] + target()
        switch Int.random(in: 0..<5, using: &random) {
        case 0, 1: members.append(#""kind":"opened""#)
        case 2: members.append(#""kind":"dismissed""#)
        default:
            let buttons = [
                "0", "1", "yes", "ab_pb_accept", "ab_pb_decline", "BRAZE_YES", "track",
                "com.apple.UNNotificationDismissActionIdentifier",
            ]
            members += [#""kind":"action""#, #""action":"\#(one(of: buttons))""#]
            if one(in: 5) { members.append(#""text":"hello""#) }
        }
        // Derived from the number and not drawn, so that the day of a known seed stays the same.
        if number % 5 == 0 { members.append(#""sdk":"\#(number % 2 == 0 ? "nil" : "delayed")""#) }
        switch Int.random(in: 0..<6, using: &random) {
        case 0, 1, 2:
            let lowest = max(1, number - 12)
            members.append(#""message":\#(Int.random(in: lowest...number + 1, using: &random))"#)
        case 3, 4: members.append(#""message":"\#(payloads.messageID(&random))""#)
        default: members.append(#""payload":\#(payloads.handedBack(&random))"#)
        }
        recentInteractions = recentInteractions.suffix(5) + [members]
        return members
    }

    private mutating func log() -> [String] {
        var members = [#""op":"log""#] + target()
        if one(in: 2) { members.append(#""suite":"standard""#) } else { members.append(#""braze_id":"profile-1""#) }
        members += one(of: [
            [#""kind":"custom_event""#, #""name":"read""#, #""properties":{"n":1}"#],
            [#""kind":"custom_attributes""#, #""attributes":{"colour":"red"}"#],
            [#""kind":"user_attributes""#, #""attributes":{"first_name":"Anna"}"#],
        ])
        return members
    }

    // MARK: Scripts

    private mutating func script() -> String {
        var parts = [part()]
        if one(in: 3) { parts.append(#""handlers":{"crm":{\#(part())},"watch":{\#(part())}}"#) }
        return "{" + parts.joined(separator: ",") + "}"
    }

    private mutating func part() -> String {
        let takes: Int64 = one(of: [0, 0, 0, 1, 70, 1200, 4000, 8999, 9000, 9500])
        let exit = one(of: [0, 0, 0, 0, 75, 80, 1])
        var parts = [#""takes_ms":\#(takes)"#, #""exit":\#(exit)"#]
        if one(in: 4) {
            parts.append(
                one(of: [
                    #""answer":{"result":"newData"}"#, #""answers":2"#,
                    #""answer":{"log":[{"kind":"custom_event","name":"seen","suite":"standard"}]}"#,
                ]))
        }
        return parts.joined(separator: ",")
    }
}

/// The payloads of the fixtures, and payloads whose ids, categories and buttons match those of interactions.
struct RandomPayloads {
    private var fixtures: [(platform: String, payload: String)] = []

    init() {
        let expected = Fixture.bytes("payloads/expected.json")
        guard let root = try? JSONDocument(scanning: expected).root else {
            preconditionFailure("expected.json is no JSON")
        }
        for (path, facts) in root.members {
            guard let platform = facts["platform"]?.string,
                let document = try? JSONDocument(scanning: Fixture.bytes("payloads/\(path)")),
                document.root.kind == .object
            else { continue }
            var text = document.root.rawBytes
            text.removeAll { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") }
            fixtures.append((platform, String(decoding: text, as: UTF8.self)))
        }
        precondition(fixtures.count > 80, "only \(fixtures.count) payloads are fixtures")
    }

    func messageID(_ random: inout SeededGenerator) -> String { "m\(Int.random(in: 0..<6, using: &random))" }

    func delivered(_ random: inout SeededGenerator) -> (platform: String, payload: String) {
        if Int.random(in: 0..<3, using: &random) == 0 {
            return fixtures[Int.random(in: 0..<fixtures.count, using: &random)]
        }
        let campaign = ["summer", "spring", nil][Int.random(in: 0..<3, using: &random)]
        let keyValues = #""braze_id":"profile-\#(Int.random(in: 1...2, using: &random))","order_id":"1""#
        switch Int.random(in: 0..<6, using: &random) {
        case 0: return ("android", android(campaign, keyValues, messageID(&random)))
        case 1: return ("ios", apple(campaign, keyValues, &random))
        case 2: return ("web", web(campaign, keyValues))
        case 3: return ("android", #"{"extras":{"google.message_id":"\#(messageID(&random))","order_id":"2"}}"#)
        case 4:
            return (
                "ios", #"{"aps":{"alert":"T","category":"\#(category(&random))","mutable-content":1},"order_id":"3"}"#
            )
        default:
            let actions = ["NEW_TOKEN", "FCM_REGISTERED", "FCM_UNREGISTERED"]
            let action = actions[Int.random(in: 0..<3, using: &random)]
            return ("android", #"{"action":"com.google.firebase.messaging.\#(action)","extras":{"token":"t1"}}"#)
        }
    }

    /// Returns the payload that the platform hands back with an interaction: on the web, the one from the service
    /// worker.
    func handedBack(_ random: inout SeededGenerator) -> String {
        let campaign = ["summer", "spring", nil][Int.random(in: 0..<3, using: &random)]
        if Int.random(in: 0..<3, using: &random) == 0 {
            let ids = campaign.map { #""cid":"\#($0)""# } ?? ""
            return #"{"ab_ids":{\#(ids)},"actionTargets":{"0":"https://example.com"}}"#
        }
        return delivered(&random).payload
    }

    func android(_ campaign: String?, _ keyValues: String, _ message: String) -> String {
        let cid = campaign.map { #","cid":"\#($0)""# } ?? ""
        let extra = "{\(keyValues)}".split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\\\"")
        return #"{"extras":{"_ab":"true","t":"T","a":"A","google.message_id":"\#(message)","extra":"\#(extra)","#
            + #""ab_a0_a":"ab_open","ab_a0_id":"0","ab_a0_t":"Open","ab_a1_a":"ab_none","ab_a1_id":"1","ab_a1_t":"No"\#(cid)}}"#
    }

    private func apple(_ campaign: String?, _ keyValues: String, _ random: inout SeededGenerator) -> String {
        let id = campaign.map { #""\#($0)""# } ?? "null"
        let wakes = Int.random(in: 0..<3, using: &random) == 0 ? #","content-available":1"# : ""
        let changes = Int.random(in: 0..<3, using: &random) == 0 ? #","mutable-content":1"# : ""
        return #"{"aps":{"alert":"T","category":"\#(category(&random))"\#(wakes)\#(changes)},\#(keyValues),"#
            + #""ab":{"c":\#(id),"ab_cat":{"yes":{"a_t":"ab_open"},"ab_pb_decline":{"a_t":"ab_none"}}}}"#
    }

    private func category(_ random: inout SeededGenerator) -> String {
        ["ab_cat_yes_no", "ab_cat_accept_decline", "registered", "other"][Int.random(in: 0..<4, using: &random)]
    }

    private func web(_ campaign: String?, _ keyValues: String) -> String {
        let cid = campaign.map { #","cid":"\#($0)""# } ?? ""
        return
            #"{"t":"T","a":"A","e":{\#(keyValues)},"ab_ids":{},"pab":[{"action":"0","title":"V","a":"ab_uri","u":"https://example.com"}]\#(cid)}"#
    }
}
