import TestSupport
import Testing

@testable import PushModel
@testable import Store

@Suite("pushctl campaigns, events, user and export", .timeLimit(.minutes(30)))
struct PushctlAnalyticsTests {
    private let daemon: TestDaemon

    private static let all = AnalyticsEvent.Kind.allCases.map(\.rawValue).joined(separator: ",")

    /// Anna receives three pushes of two campaigns: she taps one, and her session influences another.
    init() throws {
        daemon = try TestDaemon(Installation("[Tracker]\nGrace=0\n"))
        try send([
            Self.push("m1", "c3VtbWVyXyRfYQ", at: 0), Self.push("m2", "fall", at: 1000), Self.push("m3", nil, at: 2000),
            #"{"op":"interact","kind":"opened","at":60000,"app":"shop","device":"pixel","message":"m1"}"#,
            #"{"op":"interact","kind":"opened","at":61000,"app":"shop","device":"pixel","message":"m3"}"#,
        ])
        let ledger = try daemon.installation.ledger()
        try waitUntil("the session is decided") { try ledger.pendingStarts().isEmpty }
    }

    private static func push(_ message: String, _ campaign: String?, at time: Int) -> String {
        let cid = campaign.map { #""cid":"\#($0)","# } ?? ""
        return #"{"op":"deliver","at":\#(time),"platform":"android","app":"shop","device":"pixel","#
            + #""external_id":"anna","payload":{"messageId":"\#(message)","data":{"_ab":"true",\#(cid)"t":"T","a":"A"}}}"#
    }

    private func send(_ requests: [String]) throws {
        let client = try daemon.installation.injectClient()
        for request in requests { try #require(try client.ask(request).isAccepted) }
    }

    private func export(_ arguments: String...) -> Program.Result {
        pushctl.run(daemon.options + ["export"] + arguments)
    }

    @Test("the report of campaigns is the same with the daemon and without")
    func campaigns() throws {
        let result = daemon.pushctl("campaigns")
        #expect(result.end == .exited(0) && result.errors.isEmpty)
        let inAll = result.output.split(separator: "\n").first { $0.hasPrefix("In all ") }
        let cells = inAll.map { $0.split(separator: " ") } ?? []
        #expect(cells.starts(with: ["In", "all", "2", "1", "1", "50.0", "%", "1", "2", "100.0", "%"]), "\(cells)")
        #expect(result.output.contains("1  taps on pushes without a campaign: unattributed"))
        #expect(try daemon.process.stop() == .exited(0))
        #expect(daemon.pushctl("campaigns").output == result.output)
        let root = try json(daemon.pushctl("campaigns", "--json", "--by", "day").output)
        #expect(root["in_all"]?["total_opens"]?.int64 == 2 && root["unattributed"]?.int64 == 1)
        #expect(root["by"]?["groups"]?.elements.first?["day"]?.string == "1970-01-01")
    }

    @Test("one campaign, a window, days of the zone, and campaigns by the decoded part of their ids")
    func selection() throws {
        let fall = try json(daemon.pushctl("campaigns", "--campaign", "fall", "--json").output)
        #expect(fall["campaigns"]?.elements.map { $0["campaign_id"]?.string } == ["fall"])
        let today = try json(daemon.pushctl("campaigns", "--since", "today", "--json").output)
        #expect(today["in_all"]?["received"]?.int64 == 0)
        let west = pushctl.run(daemon.options + ["campaigns"], environment: ["TZ": "XXX1"])
        #expect(west.output.contains("\nDay (XXX, -01:00) ") && west.output.contains("\n1969-12-31 "))
        daemon.installation.write("pushrouterd.conf", "[Tracker]\nCampaignIdRule=decode\n")
        let decoded = try json(daemon.pushctl("campaigns", "--json").output)["campaigns_decoded"]?.elements
        #expect(decoded?.map { $0["campaign_part"]?.string } == ["summer"])
    }

    @Test("a dismissal of an unknown push is unmatched, and not a lost open; its story says so")
    func dismissalOfNothing() throws {
        try send([
            #"{"op":"interact","kind":"dismissed","app":"shop","device":"pixel","message":"m9"}"#,
            #"{"op":"interact","kind":"opened","app":"shop","device":"pixel","message":"m9"}"#,
        ])
        let ledger = try daemon.installation.ledger()
        try waitUntil("they are given up") { try ledger.heldInteractions().isEmpty }
        let root = try json(daemon.pushctl("campaigns", "--json").output)
        #expect(root["interactions"]?["unmatched"]?.int64 == 2 && root["opens_lost"]?["unmatched"]?.int64 == 1)
        #expect(daemon.pushctl("show", "6").output.contains("\n  became      unmatched\n"))
        #expect(try json(daemon.pushctl("show", "6", "--json").output)["verdict"]?.string == "unmatched")
    }

    @Test("a push that Android shows by itself is a lost open of its campaign, or of none")
    func lostOpens() throws {
        try send(
            [#""cid":"fall","#, #""cid":"winter","#, ""].map { campaign in
                #"{"op":"deliver","platform":"android","app":"shop","device":"pixel","payload":{"#
                    + #""notification":{"title":"T"},"data":{"_ab":"true",\#(campaign)"t":"T","a":"A"}}}"#
            })
        let root = try json(daemon.pushctl("campaigns", "--json").output)
        let campaigns = try #require(root["campaigns"]?.elements)
        #expect(campaigns.map { $0["campaign_id"]?.string } == ["c3VtbWVyXyRfYQ", "fall", "winter"])
        #expect(campaigns.map { $0["opens_lost"]?["shown_by_system"]?.int64 } == [0, 1, 1])
        #expect(root["opens_lost"]?["shown_by_system"]?.int64 == 3)
        #expect(root["opens_lost_without_campaign"]?["shown_by_system"]?.int64 == 1)
        // The tracker does not know these pushes, and the ledger does: by number, and by an id that nobody else has.
        try send([
            #"{"op":"interact","kind":"opened","app":"shop","device":"pixel","message":6}"#,
            #"{"op":"interact","kind":"opened","app":"shop","device":"pixel","message":"m9"}"#,
        ])
        let ledger = try daemon.installation.ledger()
        try waitUntil("they are given up") { try ledger.heldInteractions().isEmpty }
        let tapped = try json(daemon.pushctl("campaigns", "--json").output)
        #expect(tapped["campaigns"]?.elements.map { $0["opens_lost"]?["unmatched"]?.int64 } == [0, 1, 0])
        #expect(tapped["opens_lost_without_campaign"]?["unmatched"]?.int64 == 1)
        let fall = try json(daemon.pushctl("campaigns", "--campaign", "fall", "--json").output)
        #expect(fall["opens_lost"]?["shown_by_system"]?.int64 == 1)
    }

    @Test("counts events by name and day")
    func events() throws {
        let root = try json(daemon.pushctl("events", "--json").output)
        #expect(root["in_all"]?["local.pushnotification.Received"]?.int64 == 3)
        #expect(root["in_all"]?["users.messages.pushnotification.InfluencedOpen"]?.int64 == 1)
        #expect(daemon.pushctl("events", "--until", "1970-01-01").output.hasSuffix("\nNo events.\n"))
    }

    @Test("lists the pushes of a query, as text, as lines of JSON and as CSV; without a match the end is 1")
    func list() throws {
        let text = daemon.pushctl("show", "--query", "campaign:fall")
        #expect(text.end == .exited(0) && text.errors.isEmpty, "\(text.errors)")
        #expect(text.lines.count == 2 && text.lines[0].hasPrefix("Seq  Accepted"), "\(text.output)")
        #expect(text.lines[1].contains("  T: A") && text.lines[1].contains("  pixel"), "\(text.output)")
        #expect(daemon.pushctl("show", "--utc").lines.count == 4)
        let objects = try daemon.pushctl("show", "--json").lines.map { try json($0) }
        #expect(objects.map { $0["seq"]?.int64 } == [3, 2, 1])
        #expect(objects.map { $0["opened"]?.string } == [nil, "influenced", "direct"])
        let csv = daemon.pushctl("show", "--format", "csv", "--query", "campaign:nowhere")
        #expect(csv.end == .exited(1) && csv.errors == "pushctl: no push matches\n")
        let rows = daemon.pushctl("show", "--format", "csv", "--limit", "2").output.split(separator: "\r\n")
        #expect(rows.count == 3 && rows[0].hasPrefix("seq,accepted_at,op,platform,app,device,"), "\(rows)")
        #expect(rows[1].hasPrefix("3,") && rows[2].hasPrefix("2,") && rows[2].contains(",influenced,"))
        let early = daemon.pushctl("show", "--until", "2001-01-01")
        #expect(early.end == .exited(1))
        let wrong = daemon.pushctl("show", "--query", "campain:fall")
        #expect(wrong.end == .exited(2) && wrong.errors.contains("did you mean campaign:?"), "\(wrong.errors)")
        #expect(daemon.pushctl("show", "2", "--limit", "3").end == .exited(2))
    }

    @Test("names campaigns by the file beside the configuration, and says why a push was not influenced")
    func namesAndObstacles() throws {
        let page = export("--format", "csv", "--event", "Received").output.split(separator: "\r\n")
        #expect(page[0].hasSuffix(",properties,campaign_name") && page[2].hasSuffix(","), "a later page may have names")
        daemon.installation.write("campaigns.csv", "cid,api_id,name\nfall,,Fall sale\n")
        #expect(daemon.pushctl("campaigns").output.contains("\nFall sale (fall) "))
        #expect(daemon.pushctl("show", "2").output.contains("Its campaign is Fall sale (fall)."))
        #expect(daemon.pushctl("show", "--query", "campaign:fall").output.contains("Fall sale"))
        try send([Self.push("m4", "fall", at: 90_000)])
        let why = "no session of shop on pixel began after it (the window is 30 min)"
        #expect(daemon.pushctl("show", "6").output.contains("  No influenced open: \(why).\n"))
        #expect(try json(daemon.pushctl("show", "6", "--json").output)["not_influenced"]?.string == why)
        #expect(try json(daemon.pushctl("show", "2", "--json").output)["not_influenced"] == nil)
        let events = try export("--event", "Received").lines.map { try json($0)["campaign_name"]?.string }
        #expect(events == [nil, "Fall sale", nil, "Fall sale"])
        let envelope = try json(export("--format", "envelope", "--event", "InfluencedOpen").lines[0])
        #expect(envelope["properties"]?["campaign_name"]?.string == "Fall sale" && envelope["user"] != nil)
        let rows = export("--format", "csv", "--event", "Received", "--after", "0").output.split(separator: "\r\n")
        #expect(rows[0].hasSuffix(",properties,campaign_name,cursor") && rows[2].contains(",Fall sale,"), "\(rows)")
        let anna = daemon.pushctl("user", "anna").output
        #expect(anna.contains("Fall sale (fall)") && anna.contains("not influenced: \(why)"), "\(anna)")
        try send([Self.push("m5", "fall", at: 95_000).replacing("pixel", with: "tab")])
        let session = daemon.pushctl(
            "session", "start", "--app", "shop", "--device", "tab", "--external-id", "anna", "--at", "99000", "--wait")
        let counts = "of campaign Fall sale (fall): it counts as an influenced open\n"
        #expect(session.output.contains(counts), "\(session.output)\(session.errors)")
    }

    @Test("a session's end and start say what they did, what they count for, and what still waits")
    func sessionWait() throws {
        func session(_ words: String...) -> Program.Result {
            pushctl.run(daemon.options + ["session", "--app", "shop", "--device", "pixel", "--wait"] + words)
        }
        #expect(daemon.pushctl("log", "event", "bought", "--app", "shop", "--device", "pixel").end == .exited(0))
        let anna = ["--external-id", "anna"]
        let going = pushctl.run(
            daemon.options + ["session", "start", "--app", "shop", "--device", "pixel", "--wait"] + anna)
        #expect(going.output.contains("\nseq 7  continues the session of "), "\(going.output)\(going.errors)")
        #expect(
            going.output.hasSuffix("1 custom event waits for a session of the app (pushctl flush)\n"), "\(going.output)"
        )
        try send([Self.push("m5", "fall", at: 100_000), Self.push("m6", nil, at: 100_000)])
        let other = session("start", "--external-id", "berta", "--at", "160000")
        #expect(other.output.contains("\nseq 10  a session began\n"), "\(other.output)")
        #expect(
            other.output.contains(
                "seq 8: no influenced open: the session that began 1 min later is of the user berta, and the push is for anna\n"
            ), "\(other.output)")
        #expect(other.output.contains("seq 9: no influenced open: it names no campaign\n"), "\(other.output)")
        #expect(session("end", "--external-id", "berta").output.contains("ended the session of "))
        let nothing = daemon.pushctl("session", "end", "--app", "shop", "--device", "new", "--wait", "--json")
        #expect(try json(nothing.lines[1])["session"]?.string == "nothing", "\(nothing.output)")
    }

    @Test("shows one user; an unknown user ends with 1")
    func user() throws {
        let anna = try json(daemon.pushctl("user", "anna", "--json").output)
        #expect(anna["devices"]?.elements.map { $0["device_id"]?.string } == ["pixel"])
        #expect(anna["last_pushes"]?.elements.map { $0["opened"]?.string } == [nil, "influenced", "direct"])
        #expect(anna["sessions"]?["open"]?.elements.count == 1)
        #expect(daemon.pushctl("user", "anna").output.hasPrefix("User      anna\nSessions  1, first "))
        let nobody = daemon.pushctl("user", "berta")
        #expect(nobody.end == .exited(1) && nobody.errors.contains("has no data of a user berta"))
    }

    @Test("exports no influenced opens unless requested, in either form")
    func kinds() throws {
        func types(_ result: Program.Result) throws -> [String] {
            try result.lines.map { line in
                String(try #require(try json(line)["event_type"]?.string?.split(separator: ".").last))
            }
        }
        let usual = ["Received", "Received", "Received", "SessionStart", "Open"]
        #expect(try types(export()) == usual)
        #expect(try types(export("--format", "envelope")) == usual)
        #expect(try types(export("--event", "InfluencedOpen,Open")) == ["Open", "InfluencedOpen"])
        #expect(try types(export("--event", "users.messages.pushnotification.Open")) == ["Open"])
        #expect(try types(export("--since", "1970-01-01T00:00:02Z")) == ["Received", "SessionStart", "Open"])
        let wrong = export("--event", "Opens")
        #expect(wrong.end == .exited(2) && wrong.errors.contains("did you mean Open?"))
    }

    @Test("continues at a cursor, without gap or overlap")
    func cursor() throws {
        let cursor = daemon.installation.root + "/cursor"
        let first = export("--cursor", cursor, "--event", Self.all)
        #expect(first.lines.count == 6)
        #expect(export("--cursor", cursor, "--event", Self.all).lines.isEmpty)
        try send([Self.push("m4", "fall", at: 90_000), Self.push("m5", "fall", at: 91_000)])
        let second = export("--cursor", cursor, "--event", Self.all)
        #expect(second.lines.count == 2)
        #expect(first.lines + second.lines == export("--event", Self.all).lines)
    }

    @Test("exports a table with one heading, and none where it goes on")
    func table() throws {
        let rows = export("--format", "csv").output.split(separator: "\r\n")
        #expect(rows.count == 6 && rows[0].hasPrefix("event_type,id,time,external_user_id,device_id,app_id,platform,"))
        #expect(rows.dropFirst().allSatisfy { $0.contains(",anna,pixel,shop,android,") }, "\(rows)")
        let next = export("--format", "csv", "--after", "1").output.split(separator: "\r\n")
        #expect(next.count == 4 && next.allSatisfy { Int64($0.split(separator: ",").last ?? "") ?? 0 > 1 }, "\(next)")
    }

    @Test("an export continues after any line of its output, by that line's cursor")
    func after() throws {
        let lines = export("--after", "0").lines
        #expect(lines.count == 5)
        for (index, line) in lines.enumerated() {
            let cursor = try #require(try json(line)["cursor"]?.int64)
            #expect(export("--after", "\(cursor)").lines == Array(lines[(index + 1)...]))
        }
    }

    @Test("refuses a cursor of another ledger, a malformed cursor, and two cursors")
    func wrongCursors() throws {
        let cursor = daemon.installation.root + "/cursor"
        writeFile(#"{"state":"00000000-0000-0000-0000-000000000000","cursor":3}"#, to: cursor)
        let other = export("--cursor", cursor)
        #expect(other.end == .exited(65) && other.errors.contains("another state directory"))
        writeFile("3\n", to: cursor)
        #expect(export("--cursor", cursor).end == .exited(65))
        #expect(export("--cursor", cursor, "--after", "0").end == .exited(2))
        #expect(export("--after", "-1").end == .exited(2))
        #expect(export("--cursor", "/nowhere/cursor").end == .exited(74))
    }

    @Test("follows until a signal ends it, with 0, and keeps the cursor")
    func follow() throws {
        let root = daemon.installation.root
        let script = """
            : >\(root)/out
            "$@" export --follow --cursor \(root)/cursor >>\(root)/out & follower=$!
            lines() { while [ $(wc -l <\(root)/out) -lt $1 ] && kill -0 $follower; do sleep 0.02; done; }
            lines 5
            echo '{"_ab":"true","cid":"late"}' | "$@" inject --platform android - >/dev/null
            lines 6
            kill -TERM $follower; wait $follower; echo $?
            """
        let result = Program(path: "/bin/sh").run(["-c", script, "sh", pushctl.path] + daemon.options)
        #expect(result.output == "0\n", "\(result.errors)")
        #expect(export("--cursor", root + "/cursor").lines.isEmpty)
    }

    @Test("follows until its reader has closed the pipe")
    func closedPipe() {
        let script = #"{ "$@" export --follow; echo $? >&2; } | head -n 2 | wc -l"#
        let result = Program(path: "/bin/sh").run(["-c", script, "sh", pushctl.path] + daemon.options)
        #expect(result.output == "2\n" && result.errors == "0\n")
    }
}
