import TestSupport
import Testing

@testable import PushModel
@testable import PushViews

private func steps(_ text: String) -> [CSVTable.Step] {
    var table = CSVTable()
    var steps: [CSVTable.Step] = []
    for (index, line) in text.utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).enumerated() {
        steps += table.add(Array(line), number: index + 1)
    }
    return steps + table.finish()
}

@Suite("A table of a dashboard")
struct ExportTests {
    @Test(
        "has commas, semicolons or tabs, quotation marks, line feeds in cells, and lines of any system",
        arguments: [
            ("a,b\r\n1,2\r\n", [["a", "b"], ["1", "2"]]), ("a;b\n\"1;1\";2", [["a", "b"], ["1;1", "2"]]),
            ("a\tb\n1, 5\t2", [["a", "b"], ["1, 5", "2"]]), ("\n\nsep=|\na|b\n", [["a", "b"]]),
            ("\"a,x\";b\n1;2\n", [["a,x", "b"], ["1", "2"]]),
            ("a,b\n\"He said \"\"Hi\"\"\",\"two\nlines\"\n", [["a", "b"], ["He said \"Hi\"", "two\nlines"]]),
            ("a\n\u{A0}1 \n", [["a"], ["1"]]), ("a,b\n,\n", [["a", "b"], ["", ""]]),
        ])
    func forms(text: String, cells: [[String]]) {
        let found = steps(text).map { step -> [String] in if case .record(_, let cells) = step { cells } else { [] } }
        #expect(found == cells)
    }

    @Test("names a line that cannot be read, and reads the next one, also behind a mark that never ends")
    func faults() {
        #expect(
            steps("a,b\n\"x\"y,1\n3,4\n") == [
                .record(line: 1, cells: ["a", "b"]),
                .fault(line: 2, message: "cell 1 has text behind its closing quotation mark"),
                .record(line: 3, cells: ["3", "4"]),
            ])
        let open = steps("a,b\n1,\"x\n" + (0..<40).map { "\($0),2\n" }.joined())
        #expect(open[1] == .fault(line: 2, message: "a quotation mark begins here and does not end"))
        #expect(open.count == 42 && open[41] == .record(line: 42, cells: ["39", "2"]))
        var table = CSVTable()
        #expect(table.add([0x61], number: 1) == [.record(line: 1, cells: ["a"])])
        let latin = table.add([0xFC, 0x62], number: 2)
        #expect(latin == [.fault(line: 2, message: "cell 1 is no UTF-8: save the table as CSV UTF-8")])
        let long = table.add([UInt8](repeating: 0x61, count: CSVTable.bytesMax + 1), number: 3)
        #expect(long == [.fault(line: 3, message: "the record is longer than 64 KiB")])
    }

    @Test("has records of at most 16 lines and 64 KiB", arguments: [(16, true), (17, false)])
    func longRecords(lines: Int, isRead: Bool) {
        let cell = "x" + String(repeating: "\ny", count: lines - 1)
        let record = CSVTable.Step.record(line: 2, cells: [cell])
        #expect(steps("a\n\"\(cell)\"\n").contains(record) == isRead)
        var table = CSVTable()
        let longest = String(repeating: "a", count: CSVTable.bytesMax)
        #expect(table.add(Array(longest.utf8), number: 1) == [.record(line: 1, cells: [longest])])
        let half = [UInt8(ascii: "\"")] + [UInt8](repeating: 0x61, count: CSVTable.bytesMax / 2 - 1)
        #expect(table.add(half, number: 2) == [])
        #expect(table.add(Array(half.dropFirst()), number: 3) == [])
        let tooLong = CSVTable.Step.fault(line: 2, message: "the record is longer than 64 KiB")
        #expect(table.add([0x61], number: 4).first == tooLong)
    }

    @Test(
        "has counts with and without groups of three; a share or another number is none",
        arguments: [
            ("812", 812), ("1,204", 1204), ("1.204", 1204), ("1 204", 1204), ("12\u{202F}345\u{A0}678", nil),
            ("12\u{202F}345\u{202F}678", 12_345_678), ("1'204", 1204), ("812.0", 812), ("1,204.00", 1204), ("", 0),
            ("-", 0), ("12.5", nil), ("12%", nil), ("-3", nil), ("1,20", nil), ("1,,204", nil), ("abc", nil),
            ("1.204,5", nil), ("9999999999999", nil), ("999999999999", 999_999_999_999), ("–", 0), (",204", nil),
            ("999,999,999,999", 999_999_999_999), ("1,999,999,999,999", nil), ("1000,000", nil), ("1.000,0", 1000),
            ("1,204.000", nil), ("0.00", 0), ("12.01", nil),
        ] as [(String, Int?)])
    func counts(text: String, count: Int?) { #expect(ExportCell.count(text) == count) }

    @Test(
        "has days as the world and as Germany writes them, and platforms by channel",
        arguments: [
            ("2026-11-21", "2026-11-21"), ("2026-11-21T00:00:00.000Z", "2026-11-21"),
            ("2026-11-21 00:00:00", "2026-11-21"), ("1.2.2026", "2026-02-01"), ("21.11.2026", "2026-11-21"),
            ("2026/11/21", "2026-11-21"), ("Nov 21, 2026", "2026-11-21"), ("21 November 2026", "2026-11-21"),
            ("2026-11-21T23:30:00-05:00", "2026-11-22"), ("Foo 21, 2026", nil), ("11/12/2026", nil),
            ("11/21/2026", nil), ("2026-02-30", nil), ("2026-11-21x", nil), ("", nil), ("31.1.2026", "2026-01-31"),
            ("32.1.2026", nil), ("0.1.2026", nil), ("1.12.2026", "2026-12-01"), ("1.13.2026", nil), ("1.0.2026", nil),
            ("9.10.2026", "2026-10-09"), ("10.9.2026", "2026-09-10"), ("Sept 1 2026", "2026-09-01"),
            ("1 2 2026", nil), ("100 Nov 2026", nil), ("2026 Nov 21", nil), ("1.1.26", nil),
        ] as [(String, String?)])
    func days(text: String, day: String?) {
        #expect(ExportCell.day(text)?.description == day)
        #expect(ExportCell.channel("ios_push") == .one(.ios) && ExportCell.channel("Android Push") == .one(.android))
        #expect(ExportCell.channel("Push Notification (Web)") == .one(.web) && ExportCell.channel("Push") == .every)
        #expect(ExportCell.channel("kindle_push") == .one(.android) && ExportCell.channel("Email") == .other)
    }

    @Test("asks for the order of day and month, and takes it; a point stands between day and month")
    func dayOrder() throws {
        let head = "campaign_id,Date,sent,direct_opens,total_opens\n"
        for (day, words) in [
            ("11/12/2026", "begins with the day or with the month: write --date-format dmy or --date-format mdy"),
            ("21/11/2026", "begins with the day: write --date-format dmy"),
            ("11-21-2026 00:00", "begins with the month: write --date-format mdy"),
            ("12/12/2026", "begins with the day or with the month: write --date-format dmy or --date-format mdy"),
            ("13/12/2026", "begins with the day: write --date-format dmy"),
            ("12/13/2026", "begins with the month: write --date-format mdy"),
            ("31/31/2026", "begins with the day: write --date-format dmy"),
        ] {
            #expect(throws: ExportError("line 2: \"\(day)\" \(words)")) { try export(head + "A,\(day),1,0,0\n") }
        }
        for (day, order, read) in [
            ("11/12/2026", DayOrder.dmy, "2026-12-11"), ("11/12/2026", .mdy, "2026-11-12"),
            ("3/4/2026 12:30", .mdy, "2026-03-04"), ("11.12.2026", .mdy, "2026-11-12"),
            ("2026-11-12", .mdy, "2026-11-12"),
            ("21 November 2026", .mdy, "2026-11-21"),
        ] {
            #expect(ExportCell.day(day, in: .utc, order)?.description == read, "\(day)")
        }
        let wrong = try export(head + "A,11/21/2026,1,0,0\nA,45/45/2026,1,0,0\n", dayOrder: .dmy)
        #expect(wrong.rows == 0 && wrong.problems.count == 2)
        for text in ["45/45/2026", "32/1/2026", "1/32/2026"] { #expect(ExportCell.question(text) == nil) }
    }

    @Test("may have lines before its headings, which are shown; without headings the line most like them is told")
    func preamble() throws {
        let table = "Campaign Name;Sends;Direct Opens;Total Opens\nA;1;0;0\n"
        let read = try export("Campaign report, made by \"anna\"\n\"Days\",November\n\n" + table)
        #expect(read.rows == 1 && read.problems.count == 0 && read.campaigns["A"]?.values.first?.sent == 1)
        #expect(read.files[0].skipped == ["Campaign report, made by \"anna\"", "Days, November"])
        let missing = #expect(throws: ExportError.self) {
            try export("Report,\nName,Sends,Direct Opens,Total Opens\nA,1,0,0\n")
        }
        #expect(
            missing?.message.hasPrefix("no heading is known for: campaign\nits headings: \"Name\", \"Sends\"") == true)
        #expect(throws: ExportError.self) { try export(String(repeating: "x\n", count: 31) + table) }
        let latin = #expect(throws: ExportError.self) {
            var export = CampaignExport()
            export.begin("x")
            try export.add(Array("Report".utf8), number: 1)
            try export.add([0xFC, 0x62], number: 2)
            try export.end()
        }
        #expect(latin?.message == "line 2: cell 1 is no UTF-8: save the table as CSV UTF-8")
    }

    @Test("reads the answers of data_series, over many lines or on one, and --map names their members")
    func series() throws {
        let answer = """
            {
              "data": [
                {"time": "2026-11-20", "messages": {
                  "ios_push": [{"variation_name": "one", "sent": 5, "direct_opens": 1, "total_opens": 2, "bounces": 1},
                    {"variation_name": "two", "sent": 3, "direct_opens": 0, "total_opens": 1, "body_clicks": 4}],
                  "kindle_push": [{"sent": 2, "direct_opens": 1, "total_opens": 1, "unique_recipients": 2}],
                  "email": [{"sent": 100, "opens": 50}]}, "conversions": 0},
                {"time": "2026-11-21", "messages": {}}
              ],
              "message": "success"
            }
            """
        for text in [answer, answer.filter { $0 != "\n" }] {
            let read = try export(text, file: "dir/3bbc-4555.json")
            #expect(read.form == .series && read.problems.count == 0 && read.otherChannels == 1 && read.rows == 3)
            let places = try #require(read.campaigns["3bbc-4555"])
            let day = ExportCell.day("2026-11-20")
            #expect(places[.init(platform: .ios, day: day)] == .init(sent: 8, bounces: 1, direct: 1, total: 3))
            #expect(places[.init(platform: .android, day: day)] == .init(sent: 2, direct: 1, total: 1))
            #expect(read.checks.isEmpty && read.variations == ["", "one", "two"])
        }
        let mapped = try export(answer, map: [.total: "sent"], file: "a.json")
        #expect(mapped.sum(of: "a").total == 10 && mapped.files[0].columns?.known.last?.isGuess == false)
        let refused = try export("{\"message\": \"Invalid API key\"}\n")
        #expect(refused.notes[0].hasSuffix("answer of data_series or the FCM Data API: \"Invalid API key\""))
    }

    @Test("reads the events of Currents, flat, in the envelope and as Avro tools print them, each id once")
    func currents() throws {
        let path = "s3/event_type=users.messages.pushnotification.Send/date=2026-11-20-10/320/prod/a.json"
        // As in Appboy/currents-examples, s3-sample-data/Push_Notification_Send.
        let send = #"""
            {"id":"8adc","user_id":"594","external_user_id":{"string":"Anna"},"app_id":"1d5","time":1510628494,"platform":"android","campaign_id":{"string":"36e6"},"message_variation_id":{"string":"719"},"canvas_id":null}
            """#
        var all = try export(send + "\n" + send + "\n", file: path)
        try read(
            #"""
            {"event_type":"users.messages.pushnotification.Open","id":"o1","time":1510628500,"platform":"ios","campaign_id":"36e6","button_action_type":null}
            {"event_type":"users.messages.pushnotification.Open","id":"o2","time":1510628500,"platform":"ios","campaign_id":"36e6","button_action_type":"close"}
            {"event_type":"users.messages.pushnotification.Bounce","id":"b1","time":1510628500,"platform":"tvos","campaign_id":"36e6"}
            {"event_type":"users.messages.pushnotification.Open","id":"o3","time":1510628500,"platform":"ios","campaign_id":null,"canvas_id":"c"}
            {"event_type":"users.messages.email.Open","id":"e1","time":1510628500,"campaign_id":"36e6"}
            {"event_type":"users.messages.pushnotification.Open","id":"o4","time":15106
            {"event_type":"users.messages.pushnotification.Open","id":"o5","time":"soon","campaign_id":"36e6"}
            {
              "event_type" : "users.messages.pushnotification.Bounce", "id" : "b2",
              "properties" : { "campaign_id" : "36e6", "campaign_name" : "Spring", "platform" : "android" },
              "time" : 1510628500, "user" : { "device_id" : "d" }
            }
            """#, into: &all)
        #expect(all.form == .currents && all.lacking == [.total])
        #expect(all.sum(of: "36e6") == .init(sent: 1, bounces: 1, direct: 1, total: 1) && all.names["36e6"] == "Spring")
        #expect(all.otherChannels == 3 && all.repeatedEvents == 1 && all.withoutCampaign == 1)
        #expect(
            all.notes == [
                "braze.csv:6: the JSON that begins here does not end",
                "braze.csv:7: time: an event has the seconds since 1970",
            ])
        try read(
            #"{"event_type":"users.messages.pushnotification.InfluencedOpen","id":"i","time":1,"campaign_id":"36e6"}"#,
            into: &all)
        #expect(all.lacking.isEmpty)
        #expect(throws: ExportError.self) { try export(send, file: "a.json") }
        #expect(
            throws: ExportError("it is a table, and what was read before is events of Currents: give files of one form")
        ) { try read("campaign_id,sent,direct_opens,total_opens\n", into: &all) }
    }

    @Test("reads the answers of the FCM Data API: labels stand for campaigns, shares of percent for what was lost")
    func fcm() throws {
        let answer = #"""
            {"androidDeliveryData": [
              {"appId": "1:2:android:3", "date": {"year": 2026, "month": 9, "day": 20}, "analyticsLabel": "spring",
               "data": {"countMessagesAccepted": "123", "countNotificationsAccepted": "120",
                 "messageOutcomePercents": {"delivered": 90, "pending": 1, "collapsed": 2.5, "droppedAppForceStopped": 1,
                   "droppedTtlExpired": 1}}},
              {"date": {"year": 2026, "month": 9, "day": 20}, "data": {"countMessagesAccepted": "9"}},
              {"date": {"year": 2026, "month": 9}, "analyticsLabel": "spring", "data": {"countMessagesAccepted": "9"}}
            ], "nextPageToken": "x"}
            """#
        let read = try export(answer)
        #expect(read.form == .fcm && read.lacking == [.direct, .total] && read.withoutCampaign == 1)
        #expect(read.sum(of: "spring") == .init(sent: 123, bounces: 6) && read.problems.count == 1)
        #expect(read.checks.count == 2 && read.checks[1] == "each file has a nextPageToken: the last page is missing")
        let error = try export(#"{"error":{"code":403,"message":"no permission"}}"#)
        #expect(error.notes[0].hasSuffix(": \"no permission\""))
    }

    @Test("a document of JSON has a bound, and ends where a text is open or the next line begins another")
    func jsonLines() {
        func steps(_ lines: [String]) -> [String] {
            var documents = JSONLines()
            var steps: [JSONLines.Step] = []
            for (index, line) in lines.enumerated() { steps += documents.add(Array(line.utf8), number: index + 1) }
            return (steps + documents.finish()).map { step in
                switch step {
                case .document(let line, let root): "\(line) \(String(decoding: root.compactBytes, as: UTF8.self))"
                case .fault(let line, let message): "\(line) \(message)"
                }
            }
        }
        #expect(
            steps(["{\"a\":", "{\"b\":[1,", "2]}}", "", "[\"}\\\"{\"]"]) == [
                "1 {\"a\":{\"b\":[1,2]}}", "5 [\"}\\\"{\"]",
            ])
        #expect(
            steps(["{\"a\":\"x", "{\"a\":1", "{\"b\":2}", "total 3"]).map { $0.prefix(8) } == [
                "1 not JS", "2 the JS", "3 {\"b\":2", "4 not JS",
            ])
        let long = String(repeating: " ", count: JSONLines.bytesMax) + "{"
        #expect(steps([long, "{}"]) == ["1 the JSON is longer than 16 MiB", "2 {}"])
    }

    @Test("guesses headings and says so, takes those of --map, and lists unknown ones with their first values")
    func headings() throws {
        let text =
            "Campaign Name,Sends,Clicks,Opens,Unique Direct Opens,Revenue\nA,1,2,3,4,5 €\nB,1,2,3,4,6\nC,1,,3,1,7\nD,1,9,3,2,8\n"
        let read = try export(text, map: [.direct: "clicks"])
        let columns = try #require(read.files[0].columns)
        #expect(columns.known.map(\.figure) == [.campaign, .sent, .direct, .total])
        #expect(columns.known.map(\.isGuess) == [true, true, false, true])
        #expect(columns.unknown.map(\.heading) == ["Unique Direct Opens", "Revenue"])
        #expect(columns.unknown[1].values == ["5 €", "6", "7"])
        #expect(read.campaigns["A"]?.values.first == .init(sent: 1, direct: 2, total: 3))
        #expect(
            throws: ExportError(
                "--map sent=Send: there is no such heading; did you mean Sends?\nits headings: \"Sends\"")
        ) {
            try export("Sends\n", map: [.sent: "Send"])
        }
        let missing = #expect(throws: ExportError.self) { try export("Campaign ID,Sent,X\n") }
        #expect(
            missing?.message == """
                no heading is known for: direct, total
                its headings: "Campaign ID", "Sent", "X"
                write --map direct=HEADING --map total=HEADING
                """)
        #expect(throws: ExportError("it has no headings")) { try export("\n \n") }
    }

    @Test(
        "in UTF-16 is refused by its first line, in either order, with a byte order mark or with a zero",
        arguments: [
            [0xFF, 0xFE, 0x43, 0], [0xFF, 0xFE, 0x2D, 0x4E], [0xFE, 0xFF, 0x4E, 0x2D], [0x43, 0], [0, 0x43],
            [0xFF, 0xFE], [0xFE, 0xFF],
        ] as [[UInt8]])
    func otherEncoding(_ line: [UInt8]) {
        #expect(throws: ExportError("UTF-16; write it as UTF-8: iconv -f UTF-16 -t UTF-8")) {
            var export = CampaignExport()
            export.begin("x")
            try export.add(line, number: 1)
        }
    }

    @Test(
        "adds up variations, leaves out other channels and days, and names ten broken lines and how many there are more"
    )
    func rows() throws {
        let head = "campaign_id,time,Channel,variation_name,sent,direct_opens,total_opens\n"
        let good =
            "A,2026-11-20,ios_push,one,5,1,2\nA,2026-11-20,ios_push,two,6,1,2\nA,2026-11-20,email,one,9,9,9\n"
            + "A,2026-11-19,ios_push,one,9,9,9\n"
        let bad = "A,2026-11-20,ios_push,one,5,x,2\n,2026-11-20,web_push,one,1,1,1\nA,yesterday,web,one,1,1,1\nA,1\n"
        let window = ReportWindow(since: WallTime(rfc3339: "2026-11-19T23:30:00Z"))
        let zone = LocalZone(name: "CET") { _ in 3600 }
        let read = try export(head + good + bad + String(repeating: "A\n", count: 9), window: window, zone: zone)
        #expect(
            read.campaigns["A"]?.count == 1 && read.campaigns["A"]?.values.first == .init(sent: 11, direct: 2, total: 4)
        )
        #expect(read.rows == 2 && read.otherChannels == 1 && read.otherDays == 1 && read.problems.count == 13)
        #expect(read.notes.count == 11 && read.notes[10] == "and 3 more lines that cannot be read")
        #expect(read.notes[0] == "braze.csv:6: direct: \"x\" is no count")
        #expect(read.notes[1] == "braze.csv:7: it names no campaign")
        #expect(read.notes[2].hasPrefix("braze.csv:8: day: \"yesterday\": a day is written as 2026-11-21"))
        #expect(read.notes[3] == "braze.csv:9: 2 cells, where the headings are 7")
        #expect(read.variations == ["one", "two"])
    }

    @Test("holds a bounded number of campaigns by day and platform")
    func bound() throws {
        var read = CampaignExport()
        read.begin("x")
        try read.add(Array("campaign_id,sent,direct_opens,total_opens".utf8), number: 1)
        for number in 0..<CampaignExport.placesMax { try read.add(Array("\(number),1,1,1".utf8), number: number) }
        try read.add(Array("0,1,1,1".utf8), number: 2)
        #expect(throws: ExportError("more than 100,000 campaigns by day and platform: give it in parts")) {
            try read.add(Array("new,1,1,1".utf8), number: 3)
        }
    }
}
