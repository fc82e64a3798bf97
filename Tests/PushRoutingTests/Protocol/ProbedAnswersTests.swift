import TestSupport
import Testing

@testable import PushModel
@testable import PushRouter

/// Answers of handlers with another value in the place of each member, and what the daemon takes of them.
@Suite("Each member of a handler's answer")
struct ProbedAnswersTests {
    private static let answers = [
        #"{"status":"done","result":"newData","options":["banner","list"],"reason":"all right"}"#,
        #"{"log":[{"kind":"custom_event","suite":"standard","name":"visit","properties":{"a":1},"app":"shop"}]}"#,
    ]
    private static let entries = [
        #"{"kind":"custom_event","suite":"standard","name":"visit","properties":{"a":1},"app":"shop","device":"d"}"#,
        #"{"kind":"user_attributes","attributes":{"a":1},"external_id":"anna"}"#,
    ]

    @Test("is taken, or left out with a remark, as Fixtures/protocol/answers.txt has it")
    func members() {
        var found: [String] = []
        let words = [#""noData""#, #""failed""#, #""retry""#, #""declined""#, #""custom_attributes""#].map { ($0, $0) }
        let values = ProbedJSON.values + ProbedJSON.longValues.filter { $0.value.utf8.count < 2000 } + words
        func answer(_ text: String) -> String {
            let content = HandlerAnswer.Content(standardOutput: Array(text.utf8), discarded: 0)
            let objection = HandlerAnswer.Content.objection(toOutput: Array(text.utf8))
            return content.map { flatLines(of: $0).filter { !$0.hasSuffix(" nil") && !$0.hasSuffix(" 0 elements") } }
                .map { $0.joined(separator: "; ") } ?? "no answer: \(objection ?? "-")"
        }
        for text in Self.answers { found += ProbedJSON.table(text, probes: values, answer: answer) }
        for entry in Self.entries {
            found += ProbedJSON.table(entry, probes: values) { answer(#"{"log":[\#($0)]}"#) }
        }
        for text in [
            "", " ", "x", "{", "[]", "{}", #"{"resul":"newData"}"#,
            "noise\n{\"result\":\"noData\"}\n{\"result\":\"newData\"}",
            #"{"result":"newData""#, #"{"log":[1,{},3,4,5]}"#, "{\"a\":1}\nx",
        ] {
            found.append("\(text.replacing("\n", with: "\\n"))  =>  \(answer(text))")
        }
        Fixture.expect(Array(found.dropFirst()), in: "protocol/answers.txt")
    }
}
