import Testing

@testable import PushModel
@testable import PushRouter
@testable import PushSettings

@Suite("An answer over HTTP")
struct HTTPReplyTests {
    private func line(
        _ status: Int, _ headers: [String: String] = [:], _ body: String = "", isWhole: Bool = true
    ) -> String {
        text(.answer(status: status, headers: headers, body: Array(body.utf8), isWhole: isWhole))
    }

    private func text(_ reply: HTTPReply, isIdempotent: Bool = false) -> String {
        let now = WallTime(milliseconds: 784_111_777_000)
        return String(decoding: reply.line(answering: 7, isIdempotent: isIdempotent, at: now), as: UTF8.self)
    }

    @Test(
        "has the meaning of design 5.3",
        arguments: [
            (200, #""handled""#), (204, #""handled""#), (299, #""handled""#),
            (
                300,
                #""rejected","http_status":300,"reason":"HTTP status 300: pushrouter-http follows no redirect; set URL= to the final address""#
            ),
            (
                308,
                #""rejected","http_status":308,"reason":"HTTP status 308: pushrouter-http follows no redirect; set URL= to the final address""#
            ),
            (400, #""rejected","http_status":400,"reason":"HTTP status 400""#),
            (404, #""rejected","http_status":404,"reason":"HTTP status 404""#),
            (408, #""retry","http_status":408,"reason":"HTTP status 408""#),
            (425, #""retry","http_status":425,"reason":"HTTP status 425""#),
            (429, #""retry","http_status":429,"reason":"HTTP status 429""#),
            (500, #""retry","http_status":500,"reason":"HTTP status 500""#),
            (599, #""retry","http_status":599,"reason":"HTTP status 599""#),
            (600, #""rejected","http_status":600,"reason":"HTTP status 600""#),
        ])
    func statuses(status: Int, meaning: String) {
        #expect(line(status) == "{\"id\":7,\"status\":\(meaning)}\n")
    }

    @Test("declines only by 404 with a header")
    func declines() {
        #expect(line(404, ["push-declined": "1"]) == "{\"id\":7,\"status\":\"declined\",\"http_status\":404}\n")
        #expect(line(404, ["push-declined": "0"]).contains("rejected"))
        #expect(line(410, ["push-declined": "1"]).contains("rejected"))
    }

    @Test(
        "sets the retry time in seconds or as a date, at most a day; other values are ignored",
        arguments: [
            ("0", "0"), ("2", "2000"), ("999999999999", "86400000"), ("Sun, 06 Nov 1994 08:49:39 GMT", "2000"),
            ("Sun, 06 Nov 1994 08:00:00 GMT", "0"), ("Mon, 06 Nov 2034 08:49:37 GMT", "86400000"), ("soon", nil),
            ("-1", nil), ("Sunday, 06-Nov-94 08:49:37 GMT", nil), ("Sun, 31 Feb 1994 08:49:37 GMT", nil),
        ] as [(String, String?)])
    func delays(text: String, milliseconds: String?) {
        let delay = milliseconds.map { #""retry_after_ms":\#($0),"# } ?? ""
        #expect(
            line(503, ["retry-after": text])
                == "{\"id\":7,\"status\":\"retry\",\(delay)\"http_status\":503,\"reason\":\"HTTP status 503\"}\n")
    }

    @Test("may have a result, options and a log, on any number of lines; a line that is no object is skipped")
    func bodies() throws {
        let body = "{\n \"status\":\"rejected\",\"result\":\"newData\",\n\"options\":[\n\"banner\"\r\n],\"more\":1}"
        let answer = line(200, [:], body)
        #expect(answer.dropLast().allSatisfy { !$0.isNewline })
        let expected = HandlerAnswer.Content(result: .newData, options: ["banner"], status: .handled)
        #expect(try LineAnswer(Array(answer.utf8.dropLast())).answer == .handled(expected))
        for text in ["[1]", "{\"result\":", "<html>", ""] {
            #expect(line(200, [:], text) == "{\"id\":7,\"status\":\"handled\"}\n")
        }
    }

    @Test("that is incomplete gives a remark, and none of it is read")
    func notWhole() throws {
        let long = "{\"status\":\"rejected\",\"x\":\"" + String(repeating: "x", count: 65_000)
        for body in ["{\"result\":\"newData\"}", long, ""] {
            let answer = line(200, [:], body, isWhole: false)
            let remark = "the answer cannot be read: the body is incomplete or longer than 64 KiB"
            let expected = HandlerAnswer.Content(times: 1, status: .handled, remarks: [remark])
            #expect(try LineAnswer(Array(answer.utf8.dropLast())).answer == .handled(expected))
        }
    }

    @Test("that never came is retried if nothing was sent, or if the handler is idempotent")
    func failures() {
        let retry = "{\"id\":7,\"status\":\"retry\",\"reason\":\"it broke\"}\n"
        #expect(text(.failure(wasSent: false, reason: "it broke")) == retry)
        #expect(text(.failure(wasSent: true, reason: "it broke"), isIdempotent: true) == retry)
        let reason = "it broke; the server may have got the request, so it is not repeated (Idempotent=)"
        let rejected = "{\"id\":7,\"status\":\"rejected\",\"reason\":\"\(reason)\"}\n"
        #expect(text(.failure(wasSent: true, reason: "it broke")) == rejected)
    }

    @Test("that is a failure has an excerpt of its body as the reason, also for a retry")
    func excerpts() {
        func answer(_ status: Int, _ body: String) -> String {
            text(.answer(status: status, headers: [:], body: Array(body.utf8), isWhole: true))
        }
        let refused = answer(422, "{\n \"error\": \"no such order\"\n}")
        #expect(refused.contains(#"HTTP status 422: { \"error\": \"no such order\" }"#))
        #expect(answer(503, "down").contains(#""status":"retry","http_status":503,"reason":"HTTP status 503: down""#))
        #expect(answer(500, "").contains(#""reason":"HTTP status 500""#))
        #expect(answer(500, String(repeating: "x", count: 60_000)).utf8.count < 500)
    }

    @Test("that rejects has its reason in the outcome, truncated if it is long")
    func reasons() throws {
        let long = String(repeating: "x", count: 1000)
        for (reason, expected) in [("HTTP status 410", "HTTP status 410"), (long, String(long.prefix(400)) + "...")] {
            let line = HTTPReply.rejection(of: 1, reason).dropLast()
            #expect(try LineAnswer(Array(line)).answer == .rejected(reason: expected))
        }
    }
}
