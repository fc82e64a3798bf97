import Testing

@testable import PushModel

@Suite("Requests of a source")
struct RequestTemplateTests {
    private func line(_ template: RequestTemplate, _ object: String, isAPNs: Bool = false) throws -> String {
        let root = try JSONDocument(scanning: Array(object.utf8)).root
        return String(decoding: template.line(for: root, isAPNs: isAPNs), as: UTF8.self)
    }

    @Test("have the members of their template: a payload becomes a request, and a request keeps its own members")
    func lines() throws {
        var template = RequestTemplate()
        template.add("app", "shop", to: Set(Operation.allCases))
        template.add("device", nil, to: Set(Operation.allCases))
        template.add("transport", "hms", to: [.deliver])
        let members = #""app":"shop","transport":"hms""#
        for (object, isAPNs, written) in [
            (#"{"k":"v"}"#, false, #"{"op":"deliver",\#(members),"payload":{"k":"v"}}"#),
            (#"{"k":"v"}"#, true, #"{"op":"deliver",\#(members),"platform":"ios","payload":{"k":"v"}}"#),
            (#"{"aps":{}}"#, false, #"{"op":"deliver",\#(members),"platform":"ios","payload":{"aps":{}}}"#),
            (#"{"aps":"x"}"#, false, #"{"op":"deliver",\#(members),"payload":{"aps":"x"}}"#),
            // A payload may have a key op.
            (#"{"op":"x"}"#, false, #"{"op":"deliver",\#(members),"payload":{"op":"x"}}"#),
            (#"{"op":"x","payload":{}}"#, false, #"{"op":"x","payload":{}}"#),
            (
                #"{"op":"deliver","payload":{"aps":{}}}"#, false,
                #"{"op":"deliver","payload":{"aps":{}},\#(members)}"#
            ),
            (
                #"{"op":"deliver","app":"own","payload":{}}"#, false,
                #"{"op":"deliver","app":"own","payload":{},"transport":"hms"}"#
            ),
            (#"{ "op":"session","app":"own" }"#, false, #"{ "op":"session","app":"own" }"#),
            (#"{"op":"session"}"#, true, #"{"op":"session","app":"shop","platform":"ios"}"#),
        ] as [(String, Bool, String)] {
            #expect(try line(template, object, isAPNs: isAPNs) == written, "\(object)")
        }
        let web = RequestTemplate(platform: "web")
        #expect(try line(web, #"{"aps":{}}"#) == #"{"op":"deliver","platform":"web","payload":{"aps":{}}}"#)
        #expect(web.chosenPlatform == .web && RequestTemplate().chosenPlatform == nil)
        // The facts of a form count where the template has none, and its transport and headers on its platform alone.
        let headers = Array(#"{"a":"b"}"#.utf8)
        let android = RequestTemplate().completed(platform: .android, app: "a", transport: .hms, headers: headers)
        #expect(
            try line(android, "{}")
                == #"{"op":"deliver","app":"a","transport":"hms","headers":{"a":"b"},"platform":"android","#
                + #""payload":{}}"#)
        let other = web.completed(platform: .android, app: "a", transport: .hms, headers: headers)
        #expect(try line(other, "{}") == #"{"op":"deliver","app":"a","platform":"web","payload":{}}"#)
        template.add("headers", raw: Array("{}".utf8), to: [.deliver])
        let kept = template.completed(platform: nil, app: "a", transport: .adm, headers: headers)
        #expect(try line(kept, "{}") == #"{"op":"deliver",\#(members),"headers":{},"payload":{}}"#)
    }

    @Test("wait for a reply each, in their order, and then for as many outcomes as it tells")
    func outstanding() {
        var requests = OutstandingRequests<String>()
        for name in ["a", "b", "c"] { requests.append(name) }
        func match(_ line: String) -> String {
            switch requests.take(try? JSONDocument(scanning: Array(line.utf8)).root) {
            case .reply(let request): "reply to \(request ?? "none"), \(requests.undecidedCount)"
            case .outcome: "outcome, \(requests.undecidedCount)"
            }
        }
        let found = [
            #"{"ok":true,"seq":5,"outcomes":2}"#, #"{"ok":true,"seq":6}"#, #"{"seq":5,"n":0,"outcome":"handled"}"#,
            #"{"seq":5,"n":1,"outcome":"handled"}"#, "no JSON", #"{"ok":false}"#,
        ].map(match)
        #expect(
            found == [
                "reply to a, 1", "reply to b, 1", "outcome, 1", "outcome, 0", "reply to c, 0", "reply to none, 0",
            ])
        #expect(requests.unansweredCount == 0)
    }
}
