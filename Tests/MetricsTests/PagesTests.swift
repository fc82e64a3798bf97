import Glibc
import PushViews
import Synchronization
import TestSupport
import Testing

@testable import HTTPServer
@testable import LinuxSystem
@testable import PushModel
@testable import pushrouter_metrics

@Suite("The pages of pushrouter-metrics")
struct PagesTests {
    private static let away = DaemonError.noAnswer(path: "/run/read.sock")

    private func answer(
        _ request: PageRequest, problem: String? = nil, follows: String? = nil, isAway: Bool = false
    ) -> HTTPResponse {
        let pages = Pages(
            metrics: { (format) throws(DaemonError) in
                if isAway { throw Self.away }
                return "as \(format.rawValue)\n"
            },
            problem: { () throws(DaemonError) in
                if isAway { throw Self.away }
                return problem
            },
            follows: { () throws(DaemonError) in
                if isAway { throw Self.away }
                return follows
            })
        return pages.answer(request)
    }

    private func header(_ name: String, of response: HTTPResponse) -> String? {
        response.headers.first { $0.name == name }?.value
    }

    @Test("serve the metrics in the format that the client prefers", arguments: MetricsFormat.allCases)
    func metrics(format: MetricsFormat) {
        let accept = format == .openMetrics ? "application/openmetrics-text;version=1.0.0" : "text/plain"
        let response = answer(PageRequest(method: "GET", path: "/metrics", format: MetricsFormat(accepting: accept)))
        #expect(response.status == 200 && response.body == Array("as \(format.rawValue)\n".utf8))
        #expect(header("Content-Type", of: response) == format.contentType)
        #expect(header("Vary", of: response) == "Accept")
    }

    @Test("report in the metrics that the daemon does not answer, and nothing else")
    func away() {
        let response = answer(PageRequest(method: "GET", path: "/metrics"), isAway: true)
        let lines = String(decoding: response.body, as: UTF8.self).split(separator: "\n")
        #expect(response.status == 200 && lines.filter { !$0.hasPrefix("#") } == ["pushrouterd_up 0"])
    }

    @Test("have the metrics of other programs behind the daemon's, also while the daemon does not answer")
    func behind() {
        let pages = Pages(
            metrics: { (format) throws(DaemonError) in throw Self.away }, others: { text, _ in text + "other 1\n" },
            problem: { () throws(DaemonError) in nil }, follows: { () throws(DaemonError) in nil })
        let lines = String(
            decoding: pages.answer(PageRequest(method: "GET", path: "/metrics")).body, as: UTF8.self
        ).split(separator: "\n").filter { !$0.hasPrefix("#") }
        #expect(lines == ["pushrouterd_up 0", "other 1"])
    }

    @Test("count whole backups by their names, and take the age of the newest; without the directory there is nothing")
    func backups() {
        let directory = TemporaryDirectory()
        let others = OtherPrograms(gatewaySocket: "\(directory.path)/none", backups: "\(directory.path)/backups")
        #expect(others.metrics(behind: "", .prometheus) == "")
        mkdir(others.backups, 0o755)
        for name in [
            "pushrouterd-2020-01-01T020000Z.db", "pushrouterd-2020-01-02T020000Z.db", "notes.db",
            "pushrouterd-2020-01-03T030000Z.db.partial-7",
        ] { writeFile("", to: "\(others.backups)/\(name)") }
        let text = others.metrics(behind: "", .prometheus)
        #expect(text.contains("pushrouterd_backups 2\n") && text.contains("pushrouterd_backup_age_seconds "))
        // A copy of a file is as old as its name says.
        let age = text.split(separator: "\n").compactMap { line in
            line.hasPrefix("pushrouterd_backup_age_seconds ") ? Double(line.split(separator: " ")[1]) : nil
        }
        #expect(age.first ?? 0 > 200_000_000)
    }

    @Test("log once why there are no metrics, and when there are some again")
    func told() {
        let isAway = Mutex(true)
        let messages = Mutex<[String]>([])
        let log = ProblemLog(end: "the daemon answers again") { entry in
            messages.withLock { $0.append(entry.message) }
        }
        let pages = Pages(
            metrics: { (format) throws(DaemonError) in
                if isAway.withLock({ $0 }) { throw Self.away }
                return ""
            }, problem: { () throws(DaemonError) in nil },
            follows: { () throws(DaemonError) in nil }, note: { log.note($0) })
        let request = PageRequest(method: "GET", path: "/metrics")
        for _ in 0..<2 { _ = pages.answer(request) }
        #expect(messages.withLock { $0 } == ["\(Self.away)"])
        isAway.withLock { $0 = false }
        for _ in 0..<2 { _ = pages.answer(request) }
        #expect(messages.withLock { $0 } == ["\(Self.away)", "the daemon answers again"])
    }

    @Test("report in the health whether the daemon accepts requests, or the reason why not")
    func health() {
        let request = PageRequest(method: "GET", path: "/healthz")
        #expect(answer(request).status == 200)
        let full = answer(request, problem: "nothing can be written for now")
        #expect(full.status == 503 && full.body == Array("nothing can be written for now\n".utf8))
        let away = answer(request, isAway: true)
        #expect(away.status == 503 && away.body == Array("\(Self.away)\n".utf8))
    }

    @Test("report whether this machine leads, or which one does; a full disk does not change that")
    func leader() {
        let request = PageRequest(method: "GET", path: "/leader")
        #expect(answer(request).status == 200 && answer(request, problem: "the disk is full").status == 200)
        let standby = answer(request, follows: "a leads")
        #expect(standby.status == 503 && standby.body == Array("a leads\n".utf8))
        #expect(answer(request, isAway: true).status == 503)
    }

    @Test(
        "ask the daemon: one that answers with its status leads, one that refuses names the leader",
        arguments: [
            (#"{"ok":true,"status":{"state":"running","store_problem":"full"}}"#, nil),
            (#"{"ok":true,"status":{"state":"stopping"}}"#, "the daemon is stopping"),
            (#"{"ok":true,"status":{"state":"following","fleet":{"leader":"a"}}}"#, "a leads"),
            (#"{"ok":true,"status":{"state":"following","fleet":{"leader":null}}}"#, "no machine leads yet"),
            (
                #"{"ok":false,"error":{"code":"unavailable","message":"b follows","retry":true,"leader":"a"}}"#,
                "a leads"
            ),
            (
                #"{"ok":false,"error":{"code":"unavailable","message":"no machine leads yet","retry":true}}"#,
                "no machine leads yet"
            ),
        ])
    func asked(reply: String, said: String?) throws {
        var answer: Result<ControlReply, DaemonError>
        do throws(ControlReplyError) {
            answer = .success(try ControlReply(line: Array(reply.utf8)))
        } catch .refused(let refusal) {
            answer = .failure(.refused(refusal))
        } catch {
            answer = .failure(Self.away)
        }
        #expect(try DaemonSource.follows(answer) == said)
    }

    @Test("are these, and allow only GET and HEAD")
    func others() {
        #expect(answer(PageRequest(method: "GET", path: "/")).status == 200)
        for path in ["/metrics/", "/../metrics", "//metrics", "", "/favicon.ico"] {
            #expect(answer(PageRequest(method: "GET", path: path)).status == 404, "\(path)")
        }
        let post = answer(PageRequest(method: "POST", path: "/metrics"))
        #expect(post.status == 405 && header("Allow", of: post) == "GET, HEAD")
        #expect(answer(PageRequest(method: "HEAD", path: "/metrics")).status == 200)
    }
}

@Suite("The command line of pushrouter-metrics")
struct MetricsArgumentsTests {
    @Test("has an address, a file, an interval and a directory, as one word or two")
    func good() throws {
        let words = [
            "--listen=[::1]:80", "--textfile", "/a/b.prom", "--interval", "60", "--runtime=/r", "--gateway=/g.sock",
            "--backups", "/b",
        ]
        guard case .run(let given) = Program.service.parse(words) else {
            Issue.record("it is not taken")
            return
        }
        let arguments = try Arguments(given)
        #expect(given.values["--listen"] == "[::1]:80" && arguments.textFile == "/a/b.prom")
        #expect(arguments.interval == 60 && given.values["--runtime"] == "/r")
        #expect(arguments.others.gatewaySocket == "/g.sock" && arguments.others.backups == "/b")
        #expect(ListenAddress(Arguments.defaultAddress)?.isLoopback == true)
    }

    @Test(
        "is refused with the wrong word",
        arguments: [
            (["--interval", "0"], "0"), (["--interval=x"], "x"),
            (["--textfile"], "--textfile needs a value"), (["--nope"], "there is no option --nope"),
            (["a"], "there is no operand a"), (["--listen="], "--listen needs a value"),
            (["--runtime"], "--runtime needs a directory"),
        ])
    func bad(words: [String], part: String) {
        switch Program.service.parse(words) {
        case .wrong(let message): #expect(message.contains(part), "\(message)")
        case .run(let given):
            let failure = #expect(throws: StartFailure.self) { try Arguments(given) }
            #expect(failure?.lines.first?.contains(part) == true, "\(words)")
        case .help, .version: Issue.record("\(words) is taken")
        }
    }
}
