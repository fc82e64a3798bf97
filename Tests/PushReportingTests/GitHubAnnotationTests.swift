import Testing

@testable import PushViews

@Suite("An annotation for GitHub")
struct GitHubAnnotationTests {
    @Test("names its file, its line and its title")
    func allProperties() {
        let annotation = GitHubAnnotation(
            level: .error, file: "scenarios/open.jsonl", line: 4, title: "a tap", message: "found: nothing")
        #expect(annotation.line == "::error file=scenarios/open.jsonl,line=4,title=a tap::found: nothing")
    }

    @Test("may belong to the whole run")
    func noProperties() {
        #expect(GitHubAnnotation(level: .notice, file: nil, message: "3 payloads").line == "::notice::3 payloads")
    }

    @Test("keeps a message of many lines in one command, and escapes a percent sign")
    func escapedMessage() {
        let annotation = GitHubAnnotation(level: .warning, file: nil, message: "20 % off\r\n::error::no, a: b")
        #expect(annotation.line == "::warning::20 %25 off%0D%0A::error::no, a: b")
    }

    @Test("escapes a file name so that it adds no property")
    func escapedProperty() {
        let annotation = GitHubAnnotation(level: .error, file: "a,line=9:b%\n.json", line: 1, message: "x")
        #expect(annotation.line == "::error file=a%2Cline=9%3Ab%25%0A.json,line=1::x")
    }
}
