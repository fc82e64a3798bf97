import Testing

@testable import PushModel
@testable import PushViews

@Suite("The payloads of a directory")
struct ExplainedPayloadTests {
    @Test("have a line each, then the failures and the counts, of which no two are equal")
    func lines() {
        var kept = ExplainedPayload(file: "a.json", line: nil, place: "a.json")
        (kept.platform, kept.provider, kept.outcome) = ("android", "onesignal", "owner")
        kept.callbacks = ["onMessageReceived", "onDeletedMessages"]
        var warned = ExplainedPayload(file: "b.json", line: 4, place: "b.json:4")
        (warned.platform, warned.outcome, warned.warnings) = ("ios", "nothing", ["first", "second", "third"])
        var failed = ExplainedPayload(file: "c.json", line: 5, place: "c.json:5", annotatedLine: 6)
        (failed.platform, failed.outcome, failed.failures) = ("web", "lost", ["owner is none", "no callback"])
        var refused = ExplainedPayload(file: "d.json", line: nil, place: "d.json")
        refused.error = "d.json:7: no object"
        var none = ExplainedPayload(file: "e.txt", line: nil, place: "e.txt")
        (none.error, none.isNone) = ("e.txt: no payload", true)
        let report = ExplainedPayloads([kept, warned, warned, failed, refused, none], failsOnWarning: false)
        #expect(report.hasFailures)
        #expect(
            report.lines(width: nil).map(\.text) == [
                "File      Platform  Owner      Callback                              Outcome  Warning",
                "a.json    android   onesignal  onMessageReceived, onDeletedMessages  owner",
                "b.json:4  ios       none       none                                  nothing  first (and 2 more)",
                "b.json:4  ios       none       none                                  nothing  first (and 2 more)",
                "c.json:5  web       none       none                                  lost",
                "FAIL   c.json:5: owner is none", "FAIL   c.json:5: no callback", "ERROR  d.json:7: no object",
                "ERROR  e.txt: no payload",
                "5 payloads, 1 failed, 1 could not be read, 2 with warnings; e.txt: no payload",
            ])
        #expect(
            String(decoding: failed.json(explanation: Array(#"{"x":1}"#.utf8)), as: UTF8.self)
                == #"{"file":"c.json","line":5,"place":"c.json:5","failures":["owner is none","no callback"],"#
                + #""explanation":{"x":1}}"#)
        #expect(!ExplainedPayloads([kept, warned], failsOnWarning: false).hasFailures)
        #expect(ExplainedPayloads([kept, warned], failsOnWarning: true).hasFailures)
    }
}
