import TestSupport
import Testing

@testable import PushModel
@testable import PushRouter

@Suite("Queued entries")
struct SendingTests {
    private static let other = UUID128(high: 8, low: 8)

    private func bench(_ count: Int, _ change: (inout CustomDataRules) -> Void = { _ in }) throws -> CustomDataBench {
        var bench = CustomDataBench(change)
        for number in 0..<count { try bench.queue("e\(number)", now: Int64(number)) }
        return bench
    }

    @Test("are claimed oldest first, at most as many as asked for, and each only once")
    func claims() throws {
        var bench = try bench(5)
        #expect(bench.claim(limit: 2) == [1, 2])
        #expect(bench.claim(limit: 2) == [3, 4])
        #expect(bench.claim(limit: 2) == [5])
        #expect(bench.claim(limit: 2) == [])
        #expect(bench.claim(limit: 0) == [])
        #expect(bench.rows.numbers(.claimed) == [1, 2, 3, 4, 5])
        #expect(bench.rows.rows[EntryNumber(1)]?.claimant == CustomDataBench.forwarder)
    }

    @Test("are claimed up to the bytes asked for, except one longer entry")
    func claimBytes() throws {
        var bench = CustomDataBench()
        for length in [10, 10, 30, 5] { try bench.queue(letters(length - 2)) }
        #expect(bench.claim(bytes: 20) == [1, 2])
        #expect(bench.claim(bytes: 20) == [3])
        #expect(bench.claim(bytes: 0) == [4])
    }

    @Test("can be discarded from any place, but not those of the forwarder")
    func discards() throws {
        var bench = try bench(5)
        #expect(bench.claim(limit: 2) == [1, 2])
        bench.settle(1, .queued)
        let answers = [1, 4, 2].map { bench.resolve($0, .discarded) } + [bench.resolve(3, .queued)]
        #expect(answers == [true, true, false, false])
        #expect(bench.claim() == [3, 5])
        #expect(bench.rows.numbers(.discarded) == [1, 4])
    }

    @Test(
        "of unknown outcome are all queued again or discarded by one decision; others are left",
        arguments: [(.queued, [1, 2, 4]), (.discarded, [1, 2])] as [(EntryState, [Int64])])
    func resolvesAll(state: EntryState, numbers: [Int64]) throws {
        var bench = try bench(4)
        #expect(bench.claim(limit: 3) == [1, 2, 3])
        for number in [2, 1] as [Int64] { bench.settle(number, .unknown) }
        let resolved = bench.turn { $0.resolveUnknown(state, now: CustomDataBench.time(80), into: &$1) }
        #expect(resolved == 2 && bench.rows.numbers(state) == numbers)
        #expect(bench.rows.numbers(.unknown) == [] && bench.rows.numbers(.claimed) == [3])
        let again = bench.turn { $0.resolveUnknown(state, now: CustomDataBench.time(81), into: &$1) }
        #expect(again == 0)
        #expect(bench.claim() == (state == .queued ? [1, 2, 4] : [4]))
    }

    @Test("can be discarded in bulk in one pass, in any state and with repeated numbers")
    func discardsMany() throws {
        let count = 10_000
        var bench = try bench(count)
        #expect(bench.claim(limit: 2) == [1, 2])
        bench.settle(1, .unknown)
        let numbers = (1...Int64(count)).flatMap { [EntryNumber($0), EntryNumber($0), EntryNumber($0 + 1_000_000)] }
        // Entry by entry this would visit 200 million.
        let discarded = bench.turn { $0.resolve(numbers, .discarded, now: CustomDataBench.time(80), into: &$1) }
        #expect(discarded == count - 1)
        #expect(bench.data.summary.claimed == 1)
        #expect(bench.data.summary.queued == 0)
        bench.settle(2, .sent)
        #expect(bench.data.summary.bytes == 0)
    }

    @Test("are separate from stored ones: a stored entry is not sent, and a queued one waits for no session")
    func ways() throws {
        var bench = try bench(1)
        try bench.event("stored")
        #expect(bench.claim() == [1])
        #expect(bench.flush() == 1)
        #expect(bench.events.map(\.name) == ["stored"])
    }

    @Test(
        "are sent as they were logged",
        arguments: [
            UserIdentifier.brazeID("b1"), .externalID("u1"), .alias(name: "n", label: ""), .alias(name: "", label: "l"),
            .alias(name: "n", label: "l"),
        ])
    func wholeEntry(identifier: UserIdentifier) throws {
        var bench = CustomDataBench()
        let rejections = try bench.log(
            .customEvent, #"{"name":"é","properties":{"a":"\n"}}"#, to: .sent(identifier), app: nil, device: "",
            user: "u2", at: 5, now: 9)
        let row = try #require(bench.rows.rows[EntryNumber(1)])
        if case .alias(let name, let label) = identifier, name.isEmpty || label.isEmpty {
            #expect(rejections.map(\.problem.field) == [name.isEmpty ? "alias_name" : "alias_label"])
            #expect(rejections.map(\.problem.message) == ["is empty"])
            return
        }
        let claimed = bench.turn {
            $0.claim(by: Self.other, limit: 1, bytes: 1, now: CustomDataBench.time(10), into: &$1)
        }
        #expect(claimed == [row.entry])
    }

    @Test("with an empty or too long identifier are rejected")
    func identifiers() throws {
        var bench = CustomDataBench()
        let json = #"{"attributes":{"a":1,"b":2}}"#
        #expect(try bench.log(.customAttributes, json, to: .sent(.brazeID(""))).map(\.problem.field) == ["braze_id"])
        #expect(bench.text(1) == #"{"a":1,"b":2}"#)
        #expect(try bench.log(.customAttributes, json, to: .sent(.externalID(""))).count == 1)
        #expect(bench.reason(2) == "external_id: is empty")
        #expect(try bench.log(.customAttributes, json, to: .sent(.externalID(letters(998)))).count == 1)
        #expect(bench.reason(3) == "external_id: has at most 997 bytes; this one has 998")
        #expect(try bench.log(.customAttributes, json, to: .sent(.externalID(letters(997)))).isEmpty)
        for length in [255, 256] {
            let fields: [(String, UserIdentifier)] = [
                ("braze_id", .brazeID(letters(length))), ("alias_name", .alias(name: letters(length), label: "l")),
                ("alias_label", .alias(name: "n", label: letters(length))),
            ]
            for (field, identifier) in fields {
                let rejections = try bench.log(.customAttributes, json, to: .sent(identifier))
                #expect(rejections.map(\.problem.field) == (length > 255 ? [field] : []))
            }
        }
    }

    @Test("are settled one by one: sent, rejected with the reason, unknown, or queued again in the old place")
    func settling() throws {
        var bench = try bench(6)
        #expect(bench.claim(limit: 4) == [1, 2, 3, 4])
        #expect(bench.settle(1, .sent) == true)
        #expect(bench.settle(2, .rejected, "invalid name") == true)
        #expect(bench.settle(3, .unknown, "no answer") == true)
        #expect(bench.settle(4, .queued, "503") == true)
        #expect(bench.rows.numbers(.sent) == [1])
        #expect(bench.reason(2) == "invalid name")
        #expect(bench.data.unknownEntries == [EntryNumber(3)])
        #expect(bench.reason(4) == "503")
        #expect(bench.claim() == [4, 5, 6])
    }

    @Test("that were settled before, or belong to another run, are skipped by a settlement")
    func settlingTwice() throws {
        var bench = try bench(2)
        #expect(bench.settle(1, .sent) == false, "it is not out yet")
        #expect(bench.claim() == [1, 2])
        #expect(bench.settle(1, .sent, by: Self.other) == false)
        #expect(bench.settle(1, .sent) == true)
        #expect(bench.settle(1, .queued) == false)
        #expect(bench.settle(99, .sent) == false)
        #expect(bench.rows.numbers(.sent) == [1])
        #expect(bench.rows.violations.isEmpty)
    }

    @Test("that are released in any order are claimed in order of number, before later ones")
    func oldPlaces() throws {
        var bench = try bench(6)
        #expect(bench.claim(limit: 4) == [1, 2, 3, 4])
        for number in [3, 1, 4, 2] as [Int64] { bench.settle(number, .queued) }
        #expect(bench.claim(limit: 2) == [1, 2])
        try bench.queue("late")
        bench.settle(2, .queued)
        #expect(bench.claim() == [2, 3, 4, 5, 6, 7])
    }

    @Test("of an earlier run become unknown and held when another one claims; later entries are not held up")
    func hold() throws {
        var bench = try bench(4)
        #expect(bench.claim(limit: 2) == [1, 2])
        #expect(bench.claim(by: Self.other, limit: 1) == [3])
        #expect(bench.rows.numbers(.unknown) == [1, 2])
        #expect(
            bench.reason(1)
                == "the forwarder ended after it had begun to send the entry and before it reported the answer")
        #expect(bench.settle(1, .sent) == false, "too late: a person sees it already")
        #expect(bench.claim(by: Self.other) == [4])
        #expect(bench.data.summary.unknown == 2)
    }

    @Test("only reserved by an earlier run are queued again; announced ones are unknown")
    func reservations() throws {
        var bench = try bench(4)
        #expect(bench.reserve(limit: 3) == [1, 2, 3])
        #expect(bench.rows.numbers(.claimed) == [], "on disk they are queued")
        #expect(bench.data.summary.claimed == 3)
        #expect(bench.depart([2, 9]) == [2])
        #expect(bench.depart([2]) == [2], "it may ask again")
        #expect(bench.rows.numbers(.claimed) == [2])
        #expect(bench.reserve(by: Self.other) == [1, 3, 4])
        #expect(bench.rows.numbers(.unknown) == [2])
        #expect(bench.depart([1]) == [], "another run has it")
        #expect(bench.rows.violations.isEmpty)
    }

    @Test("only reserved are queued again by a restart of the daemon; announced ones stay with their run")
    func reservationsAndRestart() throws {
        var bench = try bench(3)
        #expect(bench.reserve(limit: 2) == [1, 2])
        #expect(bench.depart([1]) == [1])
        bench.restart()
        #expect(bench.data.claimedEntries(of: CustomDataBench.forwarder) == [EntryNumber(1)])
        #expect(bench.reserve() == [2, 3])
        #expect(bench.settle(1, .sent) == true)
    }

    @Test("can be discarded while reserved, and then may not be sent")
    func discardsReserved() throws {
        var bench = try bench(3)
        #expect(bench.reserve() == [1, 2, 3])
        #expect(bench.settle(3, .queued) == true)
        #expect(bench.resolve(1, .discarded) == true)
        #expect(bench.depart([1, 2]) == [2])
        #expect(bench.resolve(2, .discarded) == false)
        #expect(bench.rows.numbers(.discarded) == [1])
        #expect(bench.rows.violations.isEmpty)
        #expect(bench.reserve() == [3])
    }

    @Test("with OnUnknown=retry return to their old place, whoever settles them as unknown")
    func retry() throws {
        var bench = try bench(4) { $0.onUnknown = .retry }
        #expect(bench.claim(limit: 2) == [1, 2])
        #expect(bench.settle(2, .unknown, "timed out") == true)
        #expect(bench.reason(2) == "timed out")
        #expect(bench.claim(by: Self.other, limit: 3) == [1, 2, 3])
        #expect(bench.data.unknownEntries.isEmpty)
        #expect(bench.rows.violations.isEmpty)
    }

    @Test("of unknown outcome can be queued again in their old place, or discarded, by a person")
    func resolving() throws {
        var bench = try bench(4)
        #expect(bench.claim(limit: 3) == [1, 2, 3])
        for number in [1, 2, 3] as [Int64] { bench.settle(number, .unknown) }
        #expect(bench.resolve(3, .discarded) == true)
        #expect(bench.resolve(2, .queued) == true)
        #expect(bench.resolve(2, .queued) == false, "it is no longer unknown")
        #expect(bench.resolve(4, .queued) == false, "it never was")
        #expect(bench.data.unknownEntries == [EntryNumber(1)])
        #expect(bench.claim() == [2, 4])
        #expect(bench.rows.numbers(.discarded) == [3])
    }

    @Test("have a sending state, which survives a restart")
    func report() throws {
        var bench = CustomDataBench()
        #expect(bench.data.sending == nil)
        let state = SendingState(
            phase: .waiting, reason: "503", failures: 3, until: CustomDataBench.time(99), since: CustomDataBench.time(1)
        )
        bench.turn { $0.report(state, into: &$1) }
        bench.restart()
        #expect(bench.data.sending == state)
    }

    @Test("are summed up by state, with the oldest unsent one")
    func summary() throws {
        var bench = try bench(4)
        try bench.event("stored", now: 50)
        #expect(bench.data.summary.oldestUnsent == CustomDataBench.time(0))
        #expect(bench.claim(limit: 3) == [1, 2, 3])
        bench.settle(1, .unknown)
        let summary = bench.data.summary
        #expect(summary.pending == 1)
        #expect(summary.queued == 1)
        #expect(summary.claimed == 2)
        #expect(summary.unknown == 1)
        #expect(summary.oldestUnsent == CustomDataBench.time(1), "what is unknown waits for a person, not to be sent")
        // Names of two and six letters, and {} each.
        #expect(summary.bytes == 4 * 4 + 8)
        bench.settle(2, .sent)
        bench.settle(3, .rejected)
        #expect(bench.data.summary.oldestUnsent == CustomDataBench.time(3))
        #expect(bench.data.summary.bytes == 2 * 4 + 8)
    }
}
