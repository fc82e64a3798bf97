import Glibc
import TestSupport
import Testing

@testable import PushModel

/// Checks of many payloads with `explain`.
@Suite("pushctl explain, for a directory", .timeLimit(.minutes(30)))
struct PushctlExplainDirectoryTests: ~Copyable {
    private let directory = TemporaryDirectory()

    private func explain(_ arguments: String...) -> Program.Result {
        pushctl.run(["explain", "--config", shippedConfiguration, directory.path] + arguments)
    }

    private func write(_ name: String, _ text: String) { writeFile(text, to: "\(directory.path)/\(name)") }

    /// Writes three payloads, and two files without a payload.
    private func writeTemplates() {
        mkdir("\(directory.path)/ios", 0o755)
        write("a.json", #"{"_ab":"true","t":"T","a":"A","cid":"spring-1"}"#)
        write("b.ndjson", "\n{\"order\":\"1\"}\n{\"_ab\":\"TRUE\"}\n")
        write("ios/c.apns", #"{"aps":{"alert":"x"},"ab":{"c":"spring-2"}}"#)
        write("README.txt", "These are our templates.\n")
        write("logo.png", "x")
        write(".hidden.json", "x")
    }

    @Test("prints a line for each payload in the order of the names, and names the files that it leaves out")
    func lines() {
        writeTemplates()
        let result = explain()
        #expect(result.end == .exited(0))
        let path = directory.path
        let rows = result.lines.map { $0.split(separator: " ").prefix(5).joined(separator: " ") }
        #expect(
            rows == [
                "File Platform Owner Callback Outcome",
                "\(path)/a.json android braze onMessageReceived handed_to_tracker",
                "\(path)/b.ndjson:2 android none onMessageReceived handler",
                "\(path)/b.ndjson:3 android none onMessageReceived handler",
                "\(path)/ios/c.apns ios braze none shown_by_system",
                "4 payloads, 1 with warnings",
            ])
        #expect(result.output.contains(#"data._ab is "true" in another case"#))
        #expect(result.errors == "pushctl: \(path): left out: \(path)/README.txt, \(path)/logo.png\n")
    }

    @Test("ends with 1 on a failed expectation or a warning, and names it")
    func expectations() {
        writeTemplates()
        let path = directory.path
        #expect(explain("--expect", "warning=none", "--expect", "platform=*").end == .exited(1))
        let campaigns = explain("--expect", "provider=braze", "--expect", "campaign=spring-*")
        #expect(campaigns.end == .exited(1))
        #expect(campaigns.output.contains("FAIL   \(path)/b.ndjson:2: provider is none, not braze\n"))
        #expect(campaigns.output.contains("FAIL   \(path)/b.ndjson:2: campaign is none, not spring-*\n"))
        #expect(campaigns.output.hasSuffix("4 payloads, 2 failed, 1 with warnings\n"))
        let warned = explain("--fail-on-warning")
        #expect(warned.end == .exited(1))
        #expect(warned.output.contains("FAIL   \(path)/b.ndjson:3: warning: data._ab is"))
        let one = pushctl.run([
            "explain", "--config", shippedConfiguration, "--expect", "provider=braze", "--fail-on-warning",
            "\(path)/a.json",
        ])
        #expect(one.end == .exited(0))
        #expect(one.output.hasSuffix("\n1 payload\n"))
        let missing = explain("--platform", "ios", "--app-state", "foreground", "--sdk", "nil", "\(path)/ios/c.apns")
        #expect(missing.lines.first { $0.contains("/ios/c.apns") }?.contains("sdk_not_ready") == true)
        #expect(explain("--expect", "outcome=handled").output.contains("outcome is handler "))
        let unknown = explain("--expect", "provder=braze")
        #expect(unknown.end == .exited(2))
        #expect(unknown.errors.contains("did you mean provider?"))
    }

    @Test(
        "refuses an expectation that no payload can meet, because a word of it is misspelt",
        arguments: [
            ("provider=brase", "there is no provider brase; did you mean braze?"),
            ("outcome=handed_to_traker", "did you mean handed_to_tracker?"),
            ("outcome=handler jurnal", "did you mean handler journal?"),
            ("callback=onMesageReceived", "did you mean onMessageReceived?"),
            ("platform=windows", "one of android, ios, web"), ("handler=jurnal", "did you mean journal?"),
            ("route=99-defualt", "did you mean 99-default?"), ("kind=visble", "did you mean visible?"),
            ("confidence=medium", "one of high, low"), ("reason=notification_blok", "there is no reason"),
            ("provider=braez*", "there is no provider braez*"),
        ])
    func misspelt(expectation: String, complaint: String) {
        write("a.json", "{}")
        let result = explain("--expect", expectation)
        #expect(result.end == .exited(2) && result.errors.contains(complaint), "\(result.errors)")
        let known = ["provider=bra*", "provider=none", "outcome=handler journal", "route=99-*", "campaign=anything"]
        for expectation in known { #expect(explain("--expect", expectation).end != .exited(2), "\(expectation)") }
    }

    @Test("opens no file that is none: a FIFO would be waited for without end")
    func irregular() {
        write("a.json", #"{"k":"v"}"#)
        mkfifo("\(directory.path)/b.json", 0o600)
        symlink("/dev/zero", "\(directory.path)/c.json")
        symlink("a.json", "\(directory.path)/d.json")
        let result = explain()
        #expect(result.end == .exited(0) && result.lines.last == "2 payloads", "\(result.output)")
        let path = directory.path
        #expect(result.errors == "pushctl: \(path): left out: \(path)/b.json, \(path)/c.json\n")
    }

    @Test("makes one page of a directory, with a table of all payloads and their losses")
    func page() {
        writeTemplates()
        write(
            "lost.json",
            #"{"message":{"token":"t","notification":{"title":"T"},"data":{"_ab":"true","t":"T","cid":"c"}}}"#)
        let page = explain("--format", "html")
        #expect(page.end == .exited(0) && page.output.hasPrefix("<!DOCTYPE html>"), "\(page.errors)")
        #expect(page.output.contains("<title>What happens to 5 payloads</title>"))
        for index in 1...5 {
            #expect(
                page.output.contains("<a href=\"#payload-\(index)\">")
                    && page.output.contains("id=\"payload-\(index)\""))
        }
        #expect(page.output.contains("<span class=\"bad\">android (background, terminated"), "\(page.output)")
        #expect(page.output.contains(">iOS, foreground<") && page.output.contains(">Web, "))
        #expect(
            page.errors
                == "pushctl: \(directory.path): left out: \(directory.path)/README.txt, \(directory.path)/logo.png\n")
        #expect(explain("--format", "html", "--expect", "provider=braze").end == .exited(2))
    }

    @Test("checks each part of an FCM v1 message, and annotates on GitHub by default")
    func parts() {
        let message =
            #"{"message":{"token":"t","data":{"_ab":"true","t":"T","a":"A"},"apns":{"payload":{"aps":{"alert":"x"}}}}}"#
        write("v1.json", message)
        let words = [
            "explain", "--config", shippedConfiguration, "--expect", "provider=braze", "--platform", "all",
            directory.path,
        ]
        let result = pushctl.run(words, environment: ["GITHUB_ACTIONS": "true"])
        #expect(result.end == .exited(1))
        #expect(result.output.contains("/v1.json  android   braze  onMessageReceived"))
        #expect(result.output.contains("/v1.json  ios       none "))
        #expect(result.output.contains("::error file=\(directory.path)/v1.json,line=1,"))
        #expect(
            !pushctl.run(words + ["--format", "text"], environment: ["GITHUB_ACTIONS": "true"]).output.contains("::"))
    }

    @Test("ends with 65 if a payload is unreadable or would be refused, and checks the others")
    func unreadable() {
        writeTemplates()
        write("z.json", "{\"a\":\"1\"}\n{\"b\":\n{\"message\":{\"token\":\"t\",\"data\":{\"a\":1}}}\n")
        let result = explain("--expect", "platform=*")
        #expect(result.end == .exited(65))
        let path = directory.path
        #expect(result.output.contains("ERROR  \(path)/z.json:2:"))
        #expect(result.output.contains("ERROR  \(path)/z.json:3: payload.message.data.a: FCM v1 data values are"))
        #expect(result.output.hasSuffix("7 payloads, 2 could not be read, 1 with warnings\n"))
    }

    @Test("reports a directory or a file without a payload, and ends with 66 or 65")
    func none() {
        let path = directory.path
        let empty = explain()
        #expect(empty.end == .exited(66))
        #expect(
            empty.lines.first
                == "ERROR  \(path): no payload file in this directory: "
                + "payload files end in .json, .ndjson, .jsonl, .apns, .txt"
        )
        #expect(empty.lines.last == "\(path): no payload")
        write("a.json", #"{"_ab":"true","t":"T","a":"A"}"#)
        write("b.json", "\n")
        let both = explain()
        #expect(both.end == .exited(65))
        #expect(both.lines.last == "1 payload; \(path)/b.json: no payload")
        #expect(
            explain("\(path)/gone.json").lines.last == "2 payloads, 1 could not be read; \(path)/b.json: no payload")
        let help = pushctl.run(["help", "explain"]).output.split { " \n".contains($0) }.joined(separator: " ")
        #expect(help.contains("and 66 when a file is missing or a directory has no payload"))
    }

    @Test("annotates the first line of a payload on many lines, and the faulty line of a text that is not JSON")
    func annotatedLines() {
        let path = directory.path
        write("a.json", "\n\n{\n  \"k\":\n  \"v\"\n}\n")
        write("b.json", "\n{\n\"message\":{\"token\":\"t\",\n\"data\":{\"a\":1}}}\n")
        write("c.json", "\n[{\"k\":\"v\"},\n{\"message\":{\"token\":\"t\",\"data\":{\"a\":1}}}]\n")
        write("d.json", "\n{\n\"k\":\n}\n")
        let lines = explain("--format", "github", "--expect", "provider=braze").lines
        #expect(
            lines.dropLast().map { $0.split(separator: ",").prefix(2).joined(separator: ",") } == [
                "::error file=\(path)/a.json,line=3", "::error file=\(path)/b.json,line=2",
                "::error file=\(path)/c.json,line=2", "::error file=\(path)/c.json,line=2",
                "::error file=\(path)/d.json,line=4",
            ])
    }

    @Test("prints annotations for GitHub, a test report for CI, and an object for each payload for programs")
    func formats() throws {
        writeTemplates()
        write("z.json", "{\"a\":\"1\"}\n{\"b\":\n")
        let path = directory.path
        let github = explain("--format", "github", "--expect", "provider=braze")
        #expect(github.end == .exited(65))
        let title = "title=pushctl explain"
        #expect(
            github.lines.map { $0.prefix { $0 != "\"" } } == [
                "::error file=\(path)/b.ndjson,line=2,\(title)::provider is none, not braze",
                "::error file=\(path)/b.ndjson,line=3,\(title)::provider is none, not braze",
                "::warning file=\(path)/b.ndjson,line=3,\(title)::data._ab is ",
                "::error file=\(path)/z.json,line=1,\(title)::provider is none, not braze",
                "::error file=\(path)/z.json,line=2,\(title)::\(path)/z.json:2:6: not JSON: a value is expected; the text ends here",
                "6 payloads, 3 failed, 1 could not be read, 1 with warnings",
            ])
        let junit = explain("--format", "junit", "--expect", "provider=braze").output
        #expect(junit.contains("<testsuites name=\"pushctl explain\" tests=\"6\" failures=\"3\" errors=\"1\">"))
        #expect(junit.contains("<testcase classname=\"pushrouterd.explain\" name=\"\(path)/a.json\"/>"))
        #expect(junit.contains("<failure type=\"expectation\" message=\"provider is none, not braze\">"))
        #expect(junit.contains("<error type=\"refused\""))
        let objects = try explain("--json", "--expect", "provider=braze").lines.map { try json($0) }
        #expect(objects.map { $0["place"]?.string }.prefix(2) == ["\(path)/a.json", "\(path)/b.ndjson:2"])
        #expect(objects[1]["failures"]?.elements.map(\.string) == ["provider is none, not braze"])
        #expect(objects[0]["explanation"]?["braze"]?["campaign_id"]?.string == "spring-1")
    }
}
