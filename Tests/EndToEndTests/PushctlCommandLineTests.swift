import TestSupport
import Testing

@testable import PushModel

@Suite("pushctl, its command line", .timeLimit(.minutes(30)))
struct PushctlCommandLineTests {
    /// The commands of the overview: its indented lines above the options, without continuation lines.
    static let commands = pushctl.run(["--help"]).lines.prefix { $0 != "Options of every command:" }
        .filter { $0.hasPrefix("  ") && !$0.hasPrefix("   ") }
        .compactMap { $0.split(separator: " ").first.map(String.init) }

    @Test("lists each command once, in four groups")
    func groups() {
        let lines = pushctl.run(["--help"]).lines.prefix { $0 != "Options of every command:" }
        #expect(lines.count { $0.hasSuffix(":") && !$0.hasPrefix(" ") } == 4)
        #expect(Set(Self.commands).count == Self.commands.count && Self.commands.count > 40)
    }

    @Test("refuses a time zone that is nowhere, where local times are read or printed: it would be UTC without a word")
    func zones() {
        func events(_ zone: String, _ words: String...) -> Program.Result {
            pushctl.run(["events", "--state", "/nowhere"] + words, environment: ["TZ": zone])
        }
        for zone in ["Mars/Phobos", ":Mars/Phobos", "/etc/nowhere", "CE-1", "Berlin"] {
            let result = events(zone)
            #expect(result.end == .exited(2) && result.errors.contains("TZ=\(zone): there is no such time zone"))
            #expect(events(zone, "--utc").end == .exited(66))
        }
        for zone in ["", "UTC", ":UTC", "GMT", "CET-1CEST,M3.5.0,M10.5.0/3", "<+05>-5", "EST5EDT"] {
            #expect(events(zone).end == .exited(66), "\(zone): \(events(zone).errors)")
        }
        #expect(pushctl.run(["verify", "--quiet"], environment: ["TZ": "Mars/Phobos"]).end != .exited(2))
    }

    @Test("shows an overview that fits 80 columns and names the command of each completion")
    func overview() {
        let result = pushctl.run(["--help"])
        #expect(result.end == .exited(0))
        #expect(result.errors.isEmpty)
        #expect(result.lines.allSatisfy { $0.count <= 80 })
        let candidates = pushctl.run(["--complete", ""]).lines.filter { !$0.isEmpty }
        #expect(candidates.map { String($0.prefix { $0 != "\t" }) } == Self.commands)
    }

    @Test("shows the help of each command in 80 columns, with an example", arguments: commands)
    func help(of command: String) {
        let result = pushctl.run([command, "--help"])
        #expect(result.end == .exited(0))
        #expect(result.lines.first?.hasPrefix("pushctl \(command) - ") == true)
        #expect(result.output.contains("Usage: pushctl \(command) "))
        #expect(result.lines.contains { $0.contains("  pushctl \(command)") || $0.contains("| pushctl \(command)") })
        #expect(result.lines.allSatisfy { $0.count <= 80 })
        #expect(pushctl.run(["help", command]).output == result.output)
        #expect(pushctl.run(["-h", command]).output == result.output)
        #expect(pushctl.run([command, "--config", "/", "-h"]).output == result.output)
    }

    @Test("prints the version of the package")
    func version() {
        #expect(pushctl.run(["--version"]).output == "pushctl \(pushrouterdVersion)\n")
    }

    @Test("takes --user and --external-id for each other where a command has only one of them")
    func synonyms() {
        let places = ["--runtime", "/nowhere", "--state", "/nowhere"]
        let sent = pushctl.run(["session", "start", "--user", "anna", "--device", "d"] + places)
        #expect(sent.end != .exited(2) && !sent.errors.contains("no option"), "\(sent.errors)")
        let erased = pushctl.run(["erase", "--external-id", "anna", "--dry-run"] + places)
        #expect(erased.end != .exited(2) && !erased.errors.contains("no option"), "\(erased.errors)")
        #expect(pushctl.run(["status", "--user", "anna"]).errors.contains("status has no option --user"))
    }

    @Test(
        "refuses wrong usage with 2, and names the correct form",
        arguments: [
            ([], "COMMAND is missing"),
            (["eject"], "there is no command eject; did you mean inject?"),
            (["xyzzy"], "there is no command xyzzy\n"),
            (["explain"], "FILE|DIR...|- is missing; - reads standard input"),
            (["explain", "--platfrom", "ios", "-"], "explain has no option --platfrom; did you mean --platform?"),
            (["--jsom", "status"], "there is no option --jsom; did you mean --json?"),
            (["status", "--wait"], "status has no option --wait"),
            (["backup", "-"], "-: a backup is a file"),
            (["status", "-j"], "there is no option -j; -h is the only short option"),
            (["explain", "--platform"], "--platform needs a value"),
            (["explain", "--app", "--json", "-"], "--app needs a value; if it is --json, write --app=--json"),
            (["explain", "--json=yes", "-"], "--json takes no value"),
            (["explain", "--platform", "io", "-"], "--platform io: one of android, ios, web, all; did you mean ios?"),
            (["explain", "--state", "forground", "-"], "(a directory is written with a /); did you mean foreground?"),
            (["explain", "--app-state", "forground", "-"], "force_stopped, all; did you mean foreground?"),
            (["status", "now"], "now is one operand too many"),
            (["show", "first"], "SEQ is a number, such as 41"),
            (["show", "0"], "SEQ is a number, such as 41"),
            (["open"], "name the notification: give MESSAGE or --payload FILE"),
            (["open", "41", "--payload", "x"], "name the notification: give MESSAGE or --payload FILE"),
            (["open", "41", "--at", "noon"], "--at noon: a time is written as"),
            (["act", "41"], "--action ACTION is missing: ACTION is the id of the pressed button"),
            (["act", "--action", "yes"], "name the notification: give MESSAGE or --payload FILE"),
            (["dismiss"], "name the notification: give MESSAGE or --payload FILE"),
            (["session"], "start|end is missing"),
            (["session", "pause"], "pause: must be start or end"),
            (["token"], "TOKEN is missing; only --kind unregistered may leave it out"),
            (["token", "t", "--kind", "old"], "--kind old: one of new, registered, unregistered"),
            (["test"], "DIR|FILE... is missing"),
            (["report", "--since", "soon"], "--since soon: a time is written as"),
            (["report", "--since", "-1y"], "--since -1y: a time is written as"),
            (["report", "--since", "2026-02-30"], "--since 2026-02-30: a time is written as"),
            (["report", "--since", "-1h", "--until", "-2h"], "is before --since"),
            (["report", "--fail-under", "101"], "--fail-under 101: a percentage from 0 to 100"),
            (["report", "--json", "--format", "csv"], "--json and --format csv exclude each other"),
            (
                ["--generate", "tcsh"],
                "--generate tcsh: man, conf, schema, conform-schema, reconcile-schema, accidents or parts"
            ),
            (["inject", "--generate", "conf", "x"], "inject has no option --generate"),
            (["test", "--mode", "relay", "x"], "--mode is for --trace"),
            (["test", "--trace", "--junit", "y", "x"], "--trace and --junit exclude each other"),
            (["simulate", "x", "y"], "--trace takes one FILE, or - for standard input"),
        ])
    func usage(_ arguments: [String], _ message: String) {
        let result = pushctl.run(arguments)
        #expect(result.end == .exited(2))
        #expect(result.output.isEmpty)
        #expect(result.errors.contains(message), "\(result.errors)")
        #expect(result.errors.contains("--help\""), "it says where to read more")
    }

    @Test(
        "takes options and operands in any order, values after a space or an equals sign",
        arguments: [
            ["explain", "FILE", "--platform", "ios", "--app-state", "foreground", "--json"],
            ["explain", "--json", "--app-state=foreground", "--platform=ios", "FILE"],
            ["--json", "--platform", "ios", "explain", "FILE", "--app-state", "foreground"],
            ["--state", "ledger", "explain", "FILE", "--platform=ios", "--app-state", "foreground", "--json"],
            ["--state", "foreground", "explain", "--platform", "ios", "--json", "--", "FILE"],
            ["explain", "--platform", "ios", "--platform", "ios", "FILE", "--state", "foreground", "--json"],
            // The app's state was --state once. The daemon's directory stood beside it: before the command, and with a
            // slash in its value.
            ["--state", "ledger", "explain", "--platform", "ios", "FILE", "--state", "foreground", "--json"],
            ["explain", "--state", "/var/lib/x", "--platform", "ios", "FILE", "--state", "foreground", "--json"],
        ])
    func order(_ arguments: [String]) throws {
        let file = packageRoot + "/Tests/Fixtures/payloads/braze-ios/docs-structure.json"
        let result = pushctl.run(arguments.map { $0 == "FILE" ? file : $0 })
        #expect(result.errors.isEmpty)
        let explanation = try json(result.output)
        #expect(explanation["platform"]?.string == "ios")
        #expect(explanation["state"]?.string == "foreground")
    }

    @Test("takes all arguments after -- as operands")
    func operandsAfterTwoHyphens() {
        #expect(pushctl.run(["explain", "--", "--json"]).errors.contains("--json: No such file or directory"))
    }

    @Test(
        "completes commands, options and values in bash",
        arguments: [
            ("pushctl s", "session show status salvage store"),
            ("pushctl --config /etc expl", "explain"),
            ("pushctl explain --pl", "--platform"),
            ("pushctl explain --platform a", "android all"),
            ("pushctl explain --platform = w", "web"),
            ("pushctl inject --app-state force", "force_quit force_stopped"),
            ("pushctl report --state /et", "/etc"),
            ("pushctl inject /etc/hostn", "/etc/hostname"),
            ("pushctl status /etc/passw", ""),
            ("pushctl --state test rep", "report replay"),
            ("pushctl --state = test repo", "report"),
            ("pushctl export --event Open,Infl", "Open,InfluencedOpen"),
            ("pushctl report --by handler,pla", "handler,platform"),
            ("pushctl log-level war", "warning"),
        ])
    func completion(_ line: String, _ expected: String) {
        let script = """
            complete() { :; }
            . "$0"
            COMP_WORDS=($1)
            COMP_WORDS[0]=$2
            COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
            _pushctl
            echo "${COMPREPLY[*]}"
            """
        let result = Program(path: "/bin/bash")
            .run(["-c", script, packageRoot + "/packaging/completions/pushctl.bash", line, pushctl.path])
        #expect(result.errors.isEmpty)
        #expect(result.output == expected + "\n")
    }

    @Test("ends quietly when its reader closes the pipe")
    func brokenPipe() {
        let directory = TemporaryDirectory()
        let path = directory.path + "/many.ndjson"
        // Far more output than a pipe holds, so that the reader is gone before the end.
        writeFile(String(repeating: "{\"a\":\"b\"}\n", count: 5000), to: path)
        let script = #""$0" explain --json --platform android "$1" | head -n 1; echo "${PIPESTATUS[0]}""#
        let result = Program(path: "/bin/bash").run(["-c", script, pushctl.path, path])
        #expect(result.errors.isEmpty)
        #expect(result.lines.count == 2)
        #expect(result.lines.last == "0")
    }

    @Test("fails with 74 when its output cannot be written")
    func fullDisk() {
        let result = Program(path: "/bin/bash").run(["-c", "\"$0\" --help > /dev/full", pushctl.path])
        #expect(result.end == .exited(74))
        #expect(result.errors == "pushctl: cannot write to standard output: No space left on device\n")
    }
}
