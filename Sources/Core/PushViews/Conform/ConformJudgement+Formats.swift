public import PushModel

extension ConformJudgement {
    /// As many cases without a result are named one by one.
    private static let namedWithoutResult = 5

    /// The unexpected, and the notes, for people; then the counts. Many cases without a result are one line: they would
    /// hide the others.
    public var lines: [ReportLine] {
        var lines: [ReportLine] = []
        let without = verdicts.filter { $0.status == .failed && $0.faults.map(\.rule) == [.notRun] }
        let isFolded = without.count > Self.namedWithoutResult
        for verdict in verdicts where !isFolded || verdict.faults.map(\.rule) != [.notRun] {
            switch verdict.status {
            case .failed:
                let faults = verdict.faults.filter { !$0.rule.isNote }
                lines += faults.map { ReportLine("FAIL  \(verdict.judged.name): \($0.words)", .bad) }
                lines += verdict.help.map { ReportLine("      \($0)") }
            case .unexpectedPass:
                let known = "it is known to fail: \(verdict.reason ?? "")"
                lines.append(ReportLine("PASS  \(verdict.judged.name): \(known)", .bad))
            case .passed, .known, .skipped, .noCall: break
            }
            lines += verdict.notes.map { ReportLine("NOTE  \(verdict.judged.name): \($0.words)", .warning) }
        }
        if isFolded {
            let names = without.prefix(3).map(\.judged.name).joined(separator: ", ")
            lines.append(
                ReportLine(
                    "FAIL  \(counted(without.count, "case")) without a result: \(names), ...; --cases names a file of "
                        + "those that your tests run", .bad))
        }
        lines += unmatched.map { ReportLine("KNOWN \($0.place): \($0.pattern) matches no case", .bad) }
        return lines + [ReportLine(summary, isAsExpected ? .good : .bad)]
    }

    private var summary: String {
        let counts: [(Status, String)] = [
            (.passed, "as wanted"), (.failed, "failed"), (.known, "known to fail"),
            (.unexpectedPass, "passed unexpectedly"), (.skipped, "skipped"), (.noCall, "without a call"),
        ]
        let parts = counts.filter { count($0.0) > 0 }
            .map { "\(count($0.0)) \($0.1)" + ($0.0 == .failed ? " (\(brokenRules))" : "") }
        return "\(counted(verdicts.count, "case")): \(parts.joined(separator: ", ")) (\(heading.model))"
    }

    /// The rules that cases break, each with their number, the most frequent first: one fault fails many cases.
    private var brokenRules: String {
        let rules = verdicts.filter { $0.status == .failed }
            .flatMap { Set($0.faults.map(\.rule).filter { !$0.isNote }.map(\.rawValue)) }
        return Dictionary(grouping: rules) { $0 }.map { ($0.value.count, $0.key) }
            .sorted { ($1.0, $0.1) < ($0.0, $1.1) }.map { "\($0.0) \($0.1)" }.joined(separator: ", ")
    }

    /// JUnit XML: a test case for each case with a call.
    public var junit: String {
        let cases = verdicts.filter { $0.status != .noCall }.map { verdict in
            JUnitSuite.Case(
                name: verdict.judged.name, microseconds: nil, problem: verdict.problem,
                errors: verdict.notes.map(\.words))
        }
        let entries = unmatched.map { entry in
            let text = "\(entry.pattern) matches no case"
            return JUnitSuite.Case(
                name: entry.place, microseconds: nil,
                problem: .init(.error, kind: "known", message: text, lines: [text]))
        }
        let facts = [
            ("model", heading.model), ("configuration", heading.configuration),
            ("providers", heading.providers.joined(separator: ",")),
        ]
        return JUnitSuite.document(
            "pushctl conform", [JUnitSuite(name: "conform", properties: facts, cases: cases + entries)])
    }

    /// The judgement for programs: one object, on one line with its line feed.
    public var json: [UInt8] {
        var writer = JSONWriter(reserving: 1 << 14)
        writer.object { $0.members(Self.members, of: self) }
        return writer.line()
    }

    /// The members of the JSON and their meanings.
    public static var described: [(name: String, meaning: String)] { members.map { ($0.name, $0.meaning) } }

    /// The codes of the rules and their meanings.
    public static var rules: [(name: String, meaning: String)] {
        ConformRule.allCases.map { ($0.rawValue, $0.meaning) }
    }

    /// `packaging/conform.schema.json`, on one line.
    public static var schema: [UInt8] {
        ReportMembers.schema(
            of: "pushctl conform judge --format json",
            "What a dispatcher did, beside what the model wants. pushctl-conform(1) explains each member.",
            members.map { ($0.name, $0.type, $0.meaning) })
    }

    private typealias Member = ReportMember<ConformJudgement>

    private static let members: [ReportMember<ConformJudgement>] = [
        Member("model", "string", "the program with its version that made the cases") { $1.string($0.heading.model) },
        Member("configuration", "string", "the id of its configuration") { $1.string($0.heading.configuration) },
        Member("providers", "[string]", "the SDKs of the app") { judgement, writer in
            writer.array { list in judgement.heading.providers.forEach { list.string($0) } }
        },
        Member("ok", "boolean", "whether all is as wanted, or known to fail") { $1.bool($0.isAsExpected) },
        Member(
            "counts", "{\(Status.allCases.map { "\($0.rawValue): integer" }.joined(separator: ", "))}",
            "the number of cases of each status"
        ) { judgement, writer in
            writer.object { counts in
                Status.allCases.forEach { counts.member($0.rawValue, judgement.count($0)) }
            }
        },
        Member(
            "cases",
            """
            [{name: string, status: \(Status.allCases.map { "'\($0.rawValue)'" }.joined(separator: " | ")), \
            faults: [{rule: \(ConformRule.allCases.map { "'\($0.rawValue)'" }.joined(separator: " | ")), text: string}], \
            reason: string?, why: [string], explain: string?}]
            """,
            """
            each case with its status; faults, each with the code of its rule and the difference; reason, why it is known \
            to fail, or was skipped; why and explain, the reasons of the model and the command that shows them
            """
        ) { judgement, writer in
            writer.array { list in judgement.verdicts.forEach { $0.write(to: &list) } }
        },
        Member("unmatched", "[string]", "the entries of the known faults that match no case") { judgement, writer in
            writer.array { list in judgement.unmatched.forEach { list.string("\($0.place): \($0.pattern)") } }
        },
    ]
}

extension ConformFault {
    fileprivate var words: String { "\(rule.rawValue): \(text)" }
}

extension ConformJudgement.Verdict {
    /// The model's reasons, and the command that shows more.
    fileprivate var help: [String] {
        judged.why.map { "why: \($0)" } + (judged.explain.map { [$0] } ?? [])
    }

    fileprivate var problem: JUnitSuite.Problem? {
        let words = faults.filter { !$0.rule.isNote }.map(\.words)
        switch status {
        case .passed, .noCall: return nil
        case .failed:
            return .init(.failure, kind: faults.first?.rule.rawValue, message: words.first ?? "", lines: words + help)
        case .unexpectedPass:
            let text = "passes, and is known to fail: \(reason ?? "")"
            return .init(.failure, kind: status.rawValue, message: text, lines: [text])
        case .known, .skipped: return .init(.skipped, message: reason ?? "", lines: words)
        }
    }

    fileprivate func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("name", judged.name)
            writer.member("status", status.rawValue)
            writer.member(
                "faults",
                array: { list in
                    for fault in faults {
                        list.object {
                            $0.member("rule", fault.rule.rawValue)
                            $0.member("text", fault.text)
                        }
                    }
                })
            writer.member("reason", reason)
            writer.member("why", array: { list in judged.why.forEach { list.string($0) } })
            writer.member("explain", judged.explain)
        }
    }
}
