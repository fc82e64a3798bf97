import Testing

@testable import PushModel

@Suite("The syntax of systemd.syntax(7)")
struct INIFileTests {
    /// `Section/Key=value@line` of each assignment, and the diagnostics.
    private func parse(_ bytes: [UInt8]) -> (assignments: [String], diagnostics: [String]) {
        var report = FileReport(file: "a.conf")
        guard let file = INIFile(parsing: bytes, report: &report) else {
            return ([], report.diagnostics.map(\.description))
        }
        let assignments = file.sections.flatMap { section in
            section.assignments.map { "\(section.name)/\($0.key)=\($0.value)@\($0.line)" }
        }
        return (assignments, report.diagnostics.map(\.description))
    }

    @Test(
        "reads sections, keys, comments and continuation lines",
        arguments: [
            ("[A]\nK=v", ["A/K=v@2"]),
            ("[A]\n  K \t=  v 1\t \n", ["A/K=v 1@2"]),
            ("\u{FEFF}[A]\r\nK=v\r\n\r\n", ["A/K=v@2"]),
            ("# c\n; c\n [A] \n  # c\nK=# no comment\n", ["A/K=# no comment@5"]),
            ("[A]\nK=\nK=a=b\n", ["A/K=@2", "A/K=a=b@3"]),
            ("[A]\nK=1\n[B]\nK=2\n[A]\nK=3", ["A/K=1@2", "B/K=2@4", "A/K=3@6"]),
            (
                "[A]\nK=value 2 \\\n       value 2 continued\nL=1",
                ["A/K=value 2         value 2 continued@2", "A/L=1@4"]
            ),
            ("[C]\nK=value 3\\\n# ignored\n; ignored too\n       continued", ["C/K=value 3        continued@2"]),
            ("[A]\nK=a\\\r\nb\r\n", ["A/K=a b@2"]),
            ("[A]\nK=a\\\n\nL=b", ["A/K=a@2", "A/L=b@4"]),
            (#"[A]"# + "\n" + #"K=C:\\"# + "\nL=1", [#"A/K=C:\\@2"#, "A/L=1@3"]),
            ("[A]\nK=a\\", ["A/K=a@2"]),
            ("[A]\nK= \u{301}e\u{A0}", ["A/K=\u{301}e\u{A0}@2"]),
            ("[X-A B]\nK=1", ["X-A B/K=1@2"]),
            ("", []), ("\n\n", []), ("\\", []), ("[A]", []),
        ])
    func reads(_ text: String, _ expected: [String]) {
        let parsed = parse(Array(text.utf8))
        #expect(parsed.assignments == expected)
        #expect(parsed.diagnostics == [])
    }

    @Test(
        "reports the line of a syntax error, and reads the rest",
        arguments: [
            ("K=v\n[A]\nL=w", "a.conf:1: error: K= is in no [Section]; put it below one", ["A/L=w@3"]),
            (
                "[A]\nhandler crm\nL=w",
                #"a.conf:2: error: "handler crm" is neither a [Section], nor Key=value, nor a comment"#,
                ["A/L=w@3"]
            ),
            ("[A]\n= v", #"a.conf:2: error: "= v" is neither a [Section], nor Key=value, nor a comment"#, []),
            (
                "[A\nL=w", #"a.conf:1: error: "[A" is not a section header; write [Name] and nothing else on the line"#,
                []
            ),
            (
                "[A] # c",
                #"a.conf:1: error: "[A] # c" is not a section header; write [Name] and nothing else on the line"#, []
            ),
            ("[]", #"a.conf:1: error: "[]" is not a section header; write [Name] and nothing else on the line"#, []),
            (
                "[A]\nK=a \\\n b\nrubbish\u{1B}[31m",
                #"a.conf:4: error: "rubbish\x1b[31m" is neither a [Section], nor Key=value, nor a comment"#,
                ["A/K=a   b@2"]
            ),
        ])
    func reports(_ text: String, _ message: String, _ rest: [String]) {
        let parsed = parse(Array(text.utf8))
        #expect(parsed.diagnostics.first == message)
        if !rest.isEmpty { #expect(parsed.assignments == rest) }
    }

    @Test(
        "reads nothing from a file that is no text",
        arguments: [
            ("[A]\nK=", [0xFF], 2), ("[A]\n\nK=a", [0], 3), ("", [0xC0, 0xAF], 1), ("[A]\n# ", [0xED, 0xA0, 0x80], 2),
        ] as [(String, [UInt8], Int)])
    func refusesBinary(_ text: String, _ bytes: [UInt8], line: Int) {
        let parsed = parse(Array(text.utf8) + bytes + Array("\nL=1".utf8))
        #expect(parsed.assignments == [])
        #expect(
            parsed.diagnostics == [
                "a.conf:\(line): error: not UTF-8 text, or with a NUL byte; save the file as UTF-8"
            ])
    }

    @Test("refuses more than 1 MiB, and reads exactly 1 MiB")
    func refusesEndlessFiles() {
        let text = Array("[A]\nK=".utf8)
        let full = text + Array(repeating: UInt8(ascii: "x"), count: INIFile.lengthMax - text.count)
        #expect(parse(full).diagnostics == [])
        #expect(parse(full).assignments.count == 1)
        #expect(
            parse(full + [0x0A]).diagnostics
                == ["a.conf: error: longer than 1 MiB; this is not a configuration file"])
    }
}
