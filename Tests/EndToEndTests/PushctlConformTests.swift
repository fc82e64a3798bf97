import Glibc
import TestSupport
import Testing

@testable import PushModel

@Suite("pushctl conform", .timeLimit(.minutes(30)))
struct PushctlConformTests: ~Copyable {
    private let directory = TemporaryDirectory()

    private func conform(_ words: String...) -> Program.Result {
        pushctl.run(["conform", words[0], "--config", shippedConfiguration] + words.dropFirst())
    }

    private func path(_ name: String) -> String { "\(directory.path)/\(name)" }

    /// Writes cases that match a pattern, and returns their lines.
    private func writeCases(_ words: String...) throws -> [JSONNode] {
        let made = pushctl.run(["conform", "cases", "--config", shippedConfiguration] + words)
        #expect(made.end == .exited(0), "\(made.errors)")
        writeFile(made.output, to: path("cases"))
        return try made.lines.filter { !$0.isEmpty }.map { try json($0) }
    }

    @Test("prints a heading and the cases that platform and patterns choose; a pattern without a case is named")
    func cases() throws {
        let lines = try writeCases("--platform", "web", "--providers", "braze,onesignal")
        #expect(
            lines[0]["model"]?.string == "pushctl \(pushrouterdVersion)"
                && lines[0]["configuration"]?.string?.count == 16)
        #expect(lines[0]["providers"]?.elements.compactMap(\.string) == ["braze", "onesignal"])
        #expect(lines.count > 10 && lines.dropFirst().allSatisfy { $0["platform"]?.string == "web" })
        let none = conform("cases", "android/braze/near-*", "android/brase/*")
        #expect(none.end == .exited(1) && none.errors == "pushctl: no case has a name like android/brase/*\n")
        #expect(none.lines.filter { $0.contains("near-ab-") }.count >= 8)
        let misspelt = conform("cases", "--providers", "braze,onesignl")
        #expect(misspelt.end == .exited(2) && misspelt.errors.contains("onesignl; did you mean onesignal?"))
    }

    @Test("prints the command that explains a case, which a shell runs as it is")
    func command() throws {
        for name in ["android/braze/near-ab-uppercase", "ios/braze/silent/nil", "web/braze/click"] {
            let one = try writeCases(name)[1]
            let command = try #require(one["explain"]?.string)
            let place = String(pushctl.path.dropLast("/pushctl".count))
            let ran = Program(path: "/bin/sh").run(["-c", "PATH=\(place):$PATH; \(command)"])
            #expect(ran.end == .exited(0), "\(command)\n\(ran.errors)")
            let isClick = one["callback"]?.string == "notificationclick"
            let why = isClick ? #""provider":"braze""# : one["why"]?.elements.compactMap(\.string).first ?? "?"
            #expect(ran.output.contains(why), "\(name): \(why)\n\(ran.output)")
        }
    }

    @Test("takes the payloads of a directory, as explain reads them, and names what it leaves out")
    func payloads() throws {
        mkdir(path("templates"), 0o755)
        writeFile(#"{"_ab":"true","t":"Hi","a":"20 %","cid":"spring"}"#, to: path("templates/spring.json"))
        writeFile("{\"order\":\"1\"}\n{\"order\":2}\nbroken\n", to: path("templates/two.ndjson"))
        let made = conform("cases", "--payloads", path("templates"), "*/payloads/*")
        #expect(made.end == .exited(65))
        let names = try made.lines.dropFirst().filter { !$0.isEmpty }.map { try json($0)["name"]?.string ?? "" }
        #expect(names == ["android/payloads/spring.json", "android/payloads/two.ndjson:1"])
        #expect(made.errors.contains("android/payloads/two.ndjson:2: left out: payload.data: a value is no string"))
        #expect(made.errors.contains("two.ndjson:3:1: not JSON"))
    }

    @Test("--check names the line and the members that have changed, and ends with 1")
    func check() throws {
        _ = try writeCases("android/braze/*")
        #expect(conform("cases", "--check", path("cases")).end == .exited(0))
        let text = String(decoding: readFile(path("cases")) ?? [], as: UTF8.self)
        writeFile(
            text.replacing(#""owner":"own","returned":false"#, with: #""owner":"braze","returned":true"#),
            to: path("old"))
        let changed = conform("cases", "--check", path("old"))
        #expect(changed.end == .exited(1) && changed.output.contains(#"  want.owner: "braze" -> "own""#))
        #expect(changed.output.contains("\(path("old")):") && changed.output.contains("  why: data._ab is"))
        // Another rule of Braze's is another model.
        #expect(Program(path: "/bin/cp").run(["-r", shippedConfiguration, path("config")]).end == .exited(0))
        writeFile(
            "[Provider]\nTitle=Braze\nOrder=0\n[Android]\nAll=present _ab\n",
            to: path("config/providers.d/braze.provider"))
        let other = pushctl.run(["conform", "cases", "--check", path("cases"), "--config", path("config")])
        #expect(other.end == .exited(1) && other.output.contains(#"want.owner: "own" -> "braze""#))
        #expect(other.errors.contains("the file was made by"))
    }

    @Test("judges results in each format, with known faults, and names broken input by file and line")
    func judge() throws {
        _ = try writeCases("android/braze/near-ab-*")
        let names = try readLines("cases").dropFirst().map { try json($0)["name"]?.string ?? "" }
        let good = names.map { #"{"name":"\#($0)","owners":["own"],"returned":false}"# }
        func results(_ lines: [String]) { writeFile(lines.joined(separator: "\n") + "\n", to: path("results")) }
        func judged(_ words: String...) -> Program.Result {
            pushctl.run(["conform", "judge", path("results"), "--cases", path("cases")] + words)
        }
        results(good)
        #expect(judged().end == .exited(0))
        results([good[0].replacing(#"["own"]"#, with: #"["braze"]"#)] + good.dropFirst())
        let failed = judged()
        #expect(
            failed.end == .exited(1) && failed.output.hasPrefix("FAIL  \(names[0]): owner: braze got it, wanted own\n"))
        #expect(judged("--format", "junit").output.contains(#"failures="1""#))
        let one = try json(judged("--format", "json").output)
        #expect(one["cases"]?.elements.first?["faults"]?.elements.first?["rule"]?.string == "owner")
        writeFile("# known\n\(names[0]): ticket 7\n", to: path("known"))
        #expect(judged("--known", path("known")).end == .exited(0))
        for (lines, told) in [
            (good + [good[0]], "results:\(good.count + 1): name: a second line for \(names[0])"),
            (
                [#"{"name":"android/braze/near-ab-uppercas","owners":[]}"#],
                "did you mean android/braze/near-ab-uppercase?"
            ),
            (["{"], "results:1: not JSON"), (["[]"], "results:1: an array: a line is an object"),
        ] {
            results(lines)
            let wrong = judged()
            #expect(wrong.end == .exited(65) && wrong.errors.contains(told), "\(wrong.errors)")
        }
        results(good)
        writeFile("near: \nwithout a reason\n", to: path("known"))
        #expect(judged("--known", path("known")).errors.contains("known:2: reason: it is missing"))
        #expect(judged("--known", path("nothing")).end == .exited(66))
        #expect(
            pushctl.run(["conform", "judge", path("results"), "--cases", path("results")]).errors.contains(
                "results:1: conform: "))
        #expect(
            pushctl.run(["conform", "judge", path("results"), "--cases", directory.path]).errors.contains(
                "Is a directory"))
        #expect(pushctl.run(["conform", "judge", path("results")]).end == .exited(2))
        #expect(pushctl.run(["conform", "jugde"]).errors.contains("did you mean judge?"))
        #expect(conform("cases", "--known", path("known")).errors.contains("--known is not for cases"))
    }

    @Test("makes a case of each push that the ledger has, without a word of a person unless told otherwise")
    func ledger() throws {
        let daemon = try TestDaemon()
        let lines = ["Anna Smith", "Ben Jones"].map { name in
            #"{"_ab":"true","cid":"spring","t":"Hi \#(name)","a":"Table 7","extra":"{\"guest\":\"\#(name)\"}"}"# + "\n"
        }
        let sent = daemon.pushctl("inject", "--platform", "android", "--wait", "-", input: lines.joined())
        try #require(sent.end == .exited(0), "\(sent.errors)")
        func cases(_ words: String...) -> [Substring] {
            let made = EndToEndTests.pushctl.run(
                daemon.options + ["conform", "cases", "--from-ledger", "-1d", "*/ledger/*"] + words)
            #expect(made.end == .exited(0), "\(made.errors)")
            return made.output.split(separator: "\n").dropFirst().map { $0 }
        }
        let masked = cases()
        #expect(masked.count == 1 && !masked[0].contains("Anna") && !masked[0].contains("Jones"), "\(masked)")
        let one = try json(masked[0])
        #expect(one["name"]?.string?.hasPrefix("android/ledger/braze-") == true)
        #expect(one["want"]?["owner"]?.string == "braze" && one["data"]?["t"]?.string == "x x x")
        #expect(cases("--unmasked").count == 2 && cases("--unmasked")[0].contains("Anna Smith"))
    }

    private func readLines(_ name: String) throws -> [Substring] {
        String(decoding: readFile(path(name)) ?? [], as: UTF8.self).split(separator: "\n")
    }
}
