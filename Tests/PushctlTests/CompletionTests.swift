import Testing

@testable import pushctl

@Suite("The candidates of --complete")
struct CompletionTests {
    private func lines(_ line: String) -> [String] {
        Completion.lines(
            of: line.split(separator: " ", omittingEmptySubsequences: false).map(String.init),
            commands: Command.all)
    }

    @Test(
        "are commands, options and values, also where bash takes an equals sign as a word",
        arguments: [
            ("sh", ["show"]), ("--config /etc expl", ["explain"]), ("--config = /etc expl", ["explain"]),
            ("--state test re", ["reconcile", "replay", "report", "reload", "restore"]), ("--generate sc", ["schema"]),
            ("explain --plat", ["--platform="]), ("report --fail-on", ["--fail-on-miss"]),
            ("explain --platform a", ["android", "all"]),
            ("explain --platform=a", ["--platform=android", "--platform=all"]),
            ("explain --platform = a", ["android", "all"]),
            ("inject --transport =", ["fcm", "adm", "hms", "apns", "web_push"]),
            ("report --by handler,pla", [":list", "handler,platform"]),
            ("export --event=Open,Infl", [":list", "--event=Open,InfluencedOpen"]),
            ("inject /etc/hostn", [":files"]), ("verify --config te", [":directories"]),
            ("verify --config=te", [":directories"]), ("log-level war", ["warning"]), ("inject -- --pl", [":files"]),
            ("status /etc/passw", []), ("inject --device a", []), ("status --platf", []), ("", Command.all.map(\.name)),
        ])
    func candidates(_ line: String, _ expected: [String]) {
        let names = lines(line).map { String($0.prefix { $0 != "\t" }) }
        #expect(names.sorted() == expected.sorted())
    }

    @Test("have the meanings of commands and options behind a tab")
    func meanings() {
        #expect(lines("verify").contains("verify\tcheck the configuration"))
        #expect(lines("status --js") == ["--json\tprint JSON, for programs"])
        #expect(lines("status --form").allSatisfy { $0.hasPrefix("--format=\t") })
    }

    @Test("an option takes a value in each command that has it, or in none: the parser knows it before the command")
    func kinds() {
        let all = Option.everywhere + Option.withoutCommand + Command.all.flatMap(\.options)
        let kinds = Dictionary(grouping: all, by: \.name).mapValues { Set($0.map(\.takesValue)) }
        #expect(kinds.count > 80)
        for (name, kinds) in kinds { #expect(kinds.count == 1, "--\(name) is a flag in one command alone") }
    }

    @Test("are one line each")
    func oneLine() {
        for command in Command.all {
            #expect(
                lines("\(command.name) --").allSatisfy { !$0.contains("\n") && $0.split(separator: "\t").count == 2 })
        }
    }
}
