import Testing

@testable import PushModel
@testable import PushViews

@Suite("CSV")
struct CSVReportTests {
    @Test("the header begins with seq, n and outcome")
    func header() {
        #expect(
            CSVReport.header
                == "seq,n,outcome,callback,provider,platform,app,device,id,message_id,route,handler,mode,accepted_at,"
                + "queue_ms,exec_ms,total_ms,deadline_ms,started,completion_by,completion_result,reason,observer,waited_for,"
                + "reason_code,transport,original_priority,delivered_priority,ahead,waited_for_ms,replay_of,source\r\n"
        )
    }

    @Test("a row has every fact in its column")
    func wholeRow() {
        let decided = row(
            41, n: 1, .timedOut, callback: .didReceiveRemoteNotification, queue: .microseconds(1_250),
            exec: .seconds(9), total: .microseconds(9_001_350),
            completion: Completion(by: .default, result: .noData), reason: "not finished at the deadline",
            code: .notFinishedAtDeadline,
            mode: .relay, platform: .ios, id: "a1", messageID: "m1",
            transport: .apns, sent: .high, delivered: .normal)
        #expect(
            CSVReport.line(of: decided)
                == "41,1,timed_out,didReceiveRemoteNotification,onesignal,ios,com.example.app,d1,a1,m1,20-onesignal,crm,"
                + "relay,2026-11-21T03:08:00.041Z,1.25,9000,9001.35,9000,true,default,noData,"
                + "not finished at the deadline,false,,not_finished_at_deadline,apns,high,normal,,,,ledger\r\n")
    }

    @Test("a row in flight has an empty outcome and no times")
    func inFlight() {
        #expect(
            CSVReport.line(of: row(7, nil, provider: nil, route: nil, handler: nil))
                == "7,0,,onMessageReceived,,android,com.example.app,d1,,,,,device,2026-11-21T03:08:00.007Z,,,,9000,false,,,,false,,,,,,,,,ledger\r\n"
        )
    }

    @Test("an observer is marked, and waited_for is written as seq.n, both behind the reason")
    func observer() {
        let waited = row(
            42, n: 1, .handled, isObserver: true,
            waitedFor: Predecessor(id: InvocationID(seq: SequenceNumber(40), n: 2), handler: "crm"))
        #expect(CSVReport.line(of: waited).hasSuffix(",,,,true,40.2,,,,,,,,ledger\r\n"))
    }

    @Test("each column of text from outside gets the apostrophe")
    func apostrophes() throws {
        var row = row(
            1, .handled, provider: "=provider", route: "=route", handler: "=handler", reason: "=reason", id: "=id",
            messageID: "=message_id")
        (row.app, row.device) = ("=app", "=device")
        let names = CSVReport.header.trimmingLineEnd.split(separator: ",", omittingEmptySubsequences: false)
        let cells = CSVReport.line(of: row).trimmingLineEnd.split(separator: ",", omittingEmptySubsequences: false)
        for name in ["provider", "app", "device", "id", "message_id", "route", "handler", "reason"] {
            #expect(cells[try #require(names.firstIndex { $0 == name })] == "'=\(name)")
        }
    }

    @Test(
        "commas and quotes are quoted; control characters are shown; a formula gets an apostrophe",
        arguments: [
            ("a,b", "\"a,b\""), ("say \"hi\"", "\"say \"\"hi\"\"\""), ("a\r\nb", "a\\x0d\\x0ab"), ("a\nb", "a\\x0ab"),
            ("\"\u{301}", "\"\"\"\u{301}\""), ("=1+1", "'=1+1"), ("+1", "'+1"), ("-1", "'-1"),
            ("@SUM(A1)", "'@SUM(A1)"),
            ("\tx", "\\x09x"), ("\u{9B}31m\u{202E}", "\\x9b31m\\u202e"),
            ("=HYPERLINK(\"x\",1)", "\"'=HYPERLINK(\"\"x\"\",1)\""), ("a=b", "a=b"), ("", ""),
            (" ", " "),
        ])
    func cells(value: String, cell: String) {
        #expect(
            CSVReport.line(of: row(1, .handled, reason: value)).utf8.elementsEqual(
                CSVReport.line(of: row(1, .handled)).replacing(
                    ",false,,,,,,,,,ledger\r\n", with: cell + ",false,,,,,,,,,ledger\r\n"
                ).utf8))
    }
}

extension String {
    /// The line without its line end.
    fileprivate var trimmingLineEnd: Substring { hasSuffix("\r\n") ? dropLast() : self[...] }
}
