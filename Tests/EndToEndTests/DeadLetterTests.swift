import TestSupport
import Testing

@testable import LinuxSystem
@testable import PushModel

@Suite("In relay mode, a dead letter", .timeLimit(.minutes(30)))
struct DeadLetterTests {
    private let installation = Installation("[Dispatch]\nMode=relay\n")

    @Test("is listed with its handler's output, and a replay does it, once")
    func replays() throws {
        installation.addJob(
            "job",
            "test -e \(installation.root)/up && echo \"$PUSH_REPLAY_OF\" >\(installation.root)/of && exit 0; "
                + "echo 'the service is down' >&2; exit 1")
        let daemon = try TestDaemon(installation)
        let client = try installation.injectClient()
        #expect(try client.outcome(of: Requests.deliver(job: "job")).outcome == "failed")
        #expect(try client.outcome(of: Requests.deliver(job: "job")).outcome == "failed")

        let list = try json(daemon.pushctl("deadletters", "--json").output)
        #expect(list["dead_letters"]?.elements.compactMap { $0["seq"]?.int64 } == [2, 1])
        let attempt = list["dead_letters"]?.elements.first?["attempts"]?.elements.first
        #expect(attempt?["answer"]?.string == "rejected" && attempt?["status"]?.int64 == 1)
        #expect(attempt?["errors"]?.string == "the service is down\n")
        let story = daemon.pushctl("deadletters", "show", "1").output
        #expect(story.contains("    the service is down\n"), "\(story)")
        #expect(daemon.pushctl("replay").end == .exited(2), "nothing says which")
        #expect(daemon.pushctl("replay", "--handler", "job", "--dry-run").end == .exited(0))
        #expect(daemon.pushctl("deadletters", "purge", "2").output == "purged 1 request\n")

        writeFile("", to: installation.root + "/up")
        #expect(daemon.pushctl("replay", "--handler", "job").output == "1 replayed as 3\n")
        try waitUntil("the replay is done") { readFile(installation.root + "/of") == Array("1\n".utf8) }
        let again = daemon.pushctl("replay", "1", "2")
        #expect(again.end == .exited(1))
        #expect(
            again.errors.contains("1 not replayed: the request has no dead letter: it was replayed as 3"), "\(again)")
        #expect(again.errors.contains("2 not replayed: the request has no dead letter\n"), "\(again)")
        let replay = try json(daemon.pushctl("show", "3", "--json").output)
        let replayed = daemon.pushctl("deadletters", "show", "1", "--json")
        #expect(replayed.end == .exited(1) && replayed.output.isEmpty)
        #expect(
            replayed.errors
                == "pushctl: 1 has no dead letter: it was replayed as 3; \"pushctl show 1\" shows the request\n")
        let handled = daemon.pushctl("deadletters", "show", "3")
        #expect(handled.end == .exited(1) && handled.output.isEmpty)
        #expect(handled.errors == "pushctl: 3 has no dead letter; \"pushctl show 3\" shows the request\n")
        #expect(daemon.pushctl("deadletters", "show", "9").errors.contains("the ledger has no request 9"))
        #expect(replay["replay_of"]?.int64 == 1)
        let former = try json(daemon.pushctl("show", "1", "--json").output)
        #expect(former["replayed_as"]?.elements.compactMap(\.int64) == [3])
    }

    @Test("is counted in status and metrics by its handler until it is dropped")
    func isCounted() throws {
        installation.addJob("job", "exit 1")
        let daemon = try TestDaemon(installation)
        let client = try installation.injectClient()
        for _ in 1...2 { #expect(try client.outcome(of: Requests.deliver(job: "job")).outcome == "failed") }
        let control = try Client(path: installation.controlSocket)
        let letters = {
            #expect(try control.ask(#"{"op":"sync"}"#)["complete"]?.bool == true)
            return try json(daemon.pushctl("status", "--json").output)["dead_letters"]
        }
        let all = try letters()
        #expect(all?["count"]?.int64 == 2)
        let job = all?["handlers"]?["job"]
        #expect(job?["count"]?.int64 == 2 && job?["bytes"]?.int64 == all?["bytes"]?.int64)
        let text = daemon.pushctl("status").output
        #expect(text.contains("Dead letters   2 of ") && text.contains(": job 2\n"), "\(text)")
        let reply = try Client(path: installation.readSocket).ask(#"{"op":"metrics","format":"prometheus"}"#)
        let metrics = reply["metrics"]?.string ?? ""
        for line in [
            "pushrouterd_dead_letters 2\n", "pushrouterd_handler_dead_letters{handler=\"job\"} 2\n",
            "pushrouterd_dead_letters_dropped_total{by=\"size\"} 0\n", "pushrouterd_publishes_open 0\n",
            "pushrouterd_erasures_waiting 0\n",
        ] { #expect(metrics.contains(line), "\(line)") }
        #expect(daemon.pushctl("deadletters", "purge", "1", "2").end == .exited(0))
        #expect(try letters()?["count"]?.int64 == 0)
        #expect(!daemon.pushctl("status").output.contains("Dead letters"))
    }

    @Test("exists only in relay mode, as an empty list says in device mode")
    func deviceMode() throws {
        let installation = Installation("[Dispatch]\nMode=device\n")
        installation.addJob("job", "exit 1")
        let daemon = try TestDaemon(installation)
        #expect(daemon.pushctl("deadletters").errors == "pushctl: no dead letter matches\n", "nothing came yet")
        let client = try installation.injectClient()
        #expect(try client.outcome(of: Requests.deliver(job: "job")).outcome == "failed")
        let list = daemon.pushctl("deadletters")
        #expect(list.errors == "pushctl: no dead letter matches; device mode keeps no dead letters (Mode=)\n")
    }

    @Test("is awaited by replay --wait, which prints every outcome with the handler's output")
    func waits() throws {
        installation.addJob(
            "job", "sleep 0.3; test -e \(installation.root)/up && exit 0; echo 'the service is down' >&2; exit 1")
        let daemon = try TestDaemon(installation)
        let client = try installation.injectClient()
        for _ in 1...2 { #expect(try client.outcome(of: Requests.deliver(job: "job")).outcome == "failed") }
        #expect(daemon.pushctl("replay", "1", "--fail").end == .exited(2), "--fail needs --wait")
        let again = daemon.pushctl("replay", "1", "--wait", "--fail")
        #expect(again.end == .exited(1), "it failed again")
        #expect(again.lines.first == "1 replayed as 3")
        #expect(again.output.contains("\nseq 3  onMessageReceived -> job  failed  "), "\(again)")
        #expect(again.output.hasSuffix("    the service is down\n"), "\(again)")
        writeFile("", to: installation.root + "/up")
        let done = daemon.pushctl("replay", "2", "3", "--wait", "--fail", "--json")
        #expect(done.end == .exited(0))
        let ends = try done.lines.map { try json($0) }.filter { $0["type"]?.string == "invocation" }
        #expect(ends.map { $0["seq"]?.int64 } == [4, 5] && ends.allSatisfy { $0["outcome"]?.string == "handled" })
    }

    @Test("is counted by the chosen options if more than --limit match")
    func counts() throws {
        installation.addJob("job", "exit 1")
        installation.addRoute("99-default", to: "journal", match: "Data=job none")
        let daemon = try TestDaemon(installation)
        let client = try installation.injectClient()
        for job in ["job", "job", "other", "job"] {
            let outcome = try client.outcome(of: Requests.deliver(job: job)).outcome
            #expect(outcome == (job == "job" ? "failed" : "unrouted"))
        }
        let list = daemon.pushctl("deadletters", "--outcome", "failed", "--limit", "2")
        #expect(
            list.errors == "pushctl: the 2 newest are listed (--limit), of 3 requests that the options choose\n")
        #expect(daemon.pushctl("deadletters", "--outcome", "failed", "--limit", "3").errors.isEmpty)
        let object = try json(daemon.pushctl("deadletters", "--outcome", "failed", "--limit", "1", "--json").output)
        #expect(object["count"]?.int64 == 4 && object["matching"]?.int64 == 3)
        #expect(try json(daemon.pushctl("deadletters", "--json").output)["matching"]?.int64 == 4)
        #expect(try json(daemon.pushctl("replay", "1", "--dry-run", "--json").output)["matching"]?.int64 == 1)
    }

    @Test("is replayed up to --limit, then with all others once, even if it fails again; a purge works alike")
    func everything() throws {
        installation.addRoute("99-default", to: "journal", match: "Data=job none")
        let daemon = try TestDaemon(installation)
        // More than one order can hold.
        let payloads = String(repeating: "{\"job\":\"lost\"}\n", count: 1100)
        #expect(daemon.pushctl("inject", "--wait", "-", input: payloads).end == .exited(0))

        let some = daemon.pushctl("replay", "--outcome", "unrouted", "--limit", "1")
        #expect(some.output == "1100 replayed as 1101\n")
        let chosen = "requests that the options choose"
        #expect(
            some.errors
                == "pushctl: 1 of 1100 \(chosen) was replayed, 1099 are left (--limit); --limit all takes them all\n")

        let all = daemon.pushctl("replay", "--outcome", "unrouted", "--limit", "all")
        #expect(all.end == .exited(0) && all.errors.isEmpty, "\(all.errors)")
        let expected = (Array(1...1099) + [1101]).enumerated().map { "\($1) replayed as \(1102 + $0)" }
        #expect(all.lines == expected)
        try waitUntil("all have failed again") {
            daemon.pushctl("deadletters", "--limit", "1", "--json").output.contains("\"matching\":1100,")
        }
        let purged = daemon.pushctl("deadletters", "purge", "--outcome", "unrouted", "--limit", "99")
        #expect(purged.output == "purged 99 requests\n")
        #expect(
            purged.errors
                == "pushctl: 99 of 1100 \(chosen) were purged, 1001 are left (--limit); --limit all takes them all\n")
        let pages = daemon.pushctl("deadletters", "purge", "--since", "2020-01-01", "--limit", "all", "--json")
        #expect(try pages.lines.map { try json($0)["purged"]?.int64 } == [1000, 1])
        #expect(pages.end == .exited(0) && pages.errors.isEmpty)
        #expect(daemon.pushctl("deadletters").errors == "pushctl: no dead letter matches\n")
        #expect(daemon.pushctl("deadletters", "--limit", "all").end == .exited(2))
    }

    @Test("is replayed when there is room again, if all are chosen")
    func waitsForRoom() throws {
        installation.write("pushrouterd.conf", "[Dispatch]\nMode=relay\nRequestsInFlightMax=2\n")
        installation.addJob("job", "test -e \(installation.root)/up || exit 1; sleep 1")
        let daemon = try TestDaemon(installation)
        let client = try installation.injectClient()
        for _ in 1...5 { #expect(try client.outcome(of: Requests.deliver(job: "job")).outcome == "failed") }
        writeFile("", to: installation.root + "/up")
        let some = daemon.pushctl("replay", "--handler", "job", "--limit", "4", "--json")
        #expect(some.end == .exited(1))
        #expect(try json(some.output)["refused"]?.elements.map { $0["code"]?.string } == ["overloaded", "overloaded"])
        #expect(
            some.errors.hasSuffix(
                "pushctl: 2 of 5 requests that the options choose were replayed, 3 are left (--limit); --limit all takes "
                    + "them all\n"), "\(some.errors)")
        let all = daemon.pushctl("replay", "--handler", "job", "--limit", "all")
        #expect(all.end == .exited(0), "\(all.errors)")
        #expect(all.lines.count == 3)
        #expect(all.errors == "pushctl: the daemon has no room for more replays now; waiting until it has room\n")
    }

    @Test("has a story of steps: declines, retries, and the output at the deadline")
    func steps() throws {
        installation.addJob("first", "echo mine it is not >&2; exit 80")
        installation.addHandler("second", "Exec=/bin/sh -c 'echo try $PUSH_ATTEMPT >&2; exit 75'\nRetry=1")
        installation.addRoute("60-second", to: "second", match: "Data=job first")
        installation.addJob("slow", "echo begun >&2; sleep 60", route: "Deadline=3s")
        let daemon = try TestDaemon(installation)
        let client = try installation.injectClient()
        #expect(try client.outcome(of: Requests.deliver(job: "first")).outcome == "failed")
        let story = try json(daemon.pushctl("show", "1", "--json").output)["invocations"]?.elements.first
        let attempts = story?["attempts"]?.elements ?? []
        #expect(attempts.compactMap { $0["answer"]?.string } == ["declined", "retry", "retry"])
        #expect(attempts.compactMap { $0["errors"]?.string } == ["mine it is not\n", "try 2\n", "try 3\n"])
        #expect(attempts.compactMap { $0["status"]?.int64 } == [80, 75, 75])
        #expect(story?["reason_code"]?.string == "retries_used_up" && story?["dead_letter"]?.bool == true)
        let report = try json(daemon.pushctl("report", "--json").output)
        #expect(report["by_handler"]?["first"]?["declined"]?.int64 == 1)
        #expect(try client.outcome(of: Requests.deliver(job: "slow")).outcome == "timed_out")
        let text = daemon.pushctl("show", "2").output
        #expect(text.contains("not finished at the deadline, killed") && text.contains("    begun\n"), "\(text)")
    }

    @Test("with endless output is cut, with a note, and delays no other handler")
    func flood() throws {
        installation.addJob("flood", "exec head -c 1073741824 /dev/zero >&2", route: "Deadline=3s")
        installation.addJob("quick", "exit 0")
        installation.addJob("leaves", "(setsid sleep 60 &) ; echo last >&2; exit 3")
        let daemon = try TestDaemon(installation)
        let client = try installation.injectClient()
        #expect(try client.ask(Requests.deliver(job: "flood", waits: false)).isAccepted)
        #expect(try client.outcome(of: Requests.deliver(job: "quick")).outcome == "handled")
        #expect(try client.outcome(of: Requests.deliver(job: "leaves")).outcome == "failed")
        let left = try json(daemon.pushctl("show", "3", "--json").output)["invocations"]?.elements.first
        #expect(left?["attempts"]?.elements.first?["errors"]?.string == "last\n")
        try waitUntil("the flood is over") {
            daemon.pushctl("deadletters", "--outcome", "timed_out", "--json").output.contains("\"seq\":1,")
        }
        let story = try json(daemon.pushctl("show", "1", "--json").output)["invocations"]?.elements.first
        let attempt = story?["attempts"]?.elements.first
        #expect(attempt?["answer"]?.string == "timed_out")
        #expect((attempt?["errors_cut"]?.int64 ?? 0) > 1 << 20)
    }
}
