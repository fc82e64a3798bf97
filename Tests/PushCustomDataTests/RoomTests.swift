import Testing

@testable import PushModel
@testable import PushRouter

@Suite("The bounds of custom data")
struct RoomTests {
    @Test("reject entries above MaxPending= without their data, with that reason")
    func count() throws {
        var bench = CustomDataBench { $0.pendingMax = 2 }
        try bench.event("a")
        try bench.queue("b")
        #expect(!bench.data.hasRoom(for: 0))
        let rejections = try bench.log(.customEvent, #"{"name":"\#(letters(300))","properties":{"a":1}}"#)
        #expect(rejections.map(\.problem.field) == [""])
        #expect(
            bench.reason(3)
                == "there is no room: 2 entries of 6 bytes wait already (MaxPending=2, MaxPendingSize=67108864)")
        #expect(bench.text(3) == "")
        #expect(bench.rows.rows[EntryNumber(3)]?.entry.name == letters(255))
        bench.flush()
        #expect(bench.data.hasRoom(for: 0))
        #expect(try bench.event("c") == [])
    }

    @Test("count no entry that was sent, flushed, rejected or discarded, but claimed and unknown ones")
    func states() throws {
        var bench = CustomDataBench { $0.pendingMax = 3 }
        for name in ["a", "b", "c"] { try bench.queue(name) }
        #expect(bench.claim() == [1, 2, 3])
        #expect(!bench.data.hasRoom(for: 0))
        bench.settle(1, .unknown)
        #expect(!bench.data.hasRoom(for: 0))
        bench.resolve(1, .discarded)
        #expect(bench.data.hasRoom(for: 0))
        try bench.event("d")
        #expect(!bench.data.hasRoom(for: 0))
        bench.settle(2, .rejected)
        #expect(bench.data.hasRoom(for: 0))
    }

    @Test("limit names and data to MaxPendingSize= bytes")
    func bytes() throws {
        var bench = CustomDataBench { $0.pendingSizeMax = 10 }
        try bench.event("abc")
        #expect(bench.data.summary.bytes == 5)
        #expect(bench.data.hasRoom(for: 5))
        #expect(!bench.data.hasRoom(for: 6))
        #expect(try bench.event("abcd").count == 1)
        #expect(try bench.event("def").isEmpty)
        #expect(bench.data.summary.bytes == 10)
        #expect(!bench.data.hasRoom(for: 1))
        #expect(bench.data.hasRoom(for: 0))
    }

    @Test("keep a wrong entry with its data while there is room, without counting it")
    func rejected() throws {
        var bench = CustomDataBench { $0.pendingMax = 1 }
        for _ in 0..<3 { try bench.log(.customEvent, #"{"name":"e","properties":{"a":null}}"#) }
        #expect(bench.rows.numbers(.rejected) == [1, 2, 3])
        #expect(bench.text(3) == #"{"a":null}"#)
        #expect(bench.data.summary == CustomDataSummary())
    }

    @Test("keep an entry that the caller rejects with the caller's reason")
    func setAside() throws {
        var bench = CustomDataBench { $0.pendingMax = 1 }
        let object = try JSONDocument(scanning: Array(#"{"name":"opened","properties":{"a": 1}}"#.utf8)).root
        for expected in [#"{"a":1}"#, ""] {
            let source = bench.source(.sent(.brazeID("")))
            let rejection = bench.turn {
                $0.setAside(
                    .customEvent, object, source,
                    EntryProblem(.notInPayload, "the payload has no key-value braze_id", field: "braze_id"),
                    now: CustomDataBench.time(0), into: &$1)
            }
            let row = try #require(bench.rows.rows[rejection.number])
            #expect(rejection.problem.field == "braze_id")
            #expect(row.state == .rejected)
            #expect(row.reason == "braze_id: the payload has no key-value braze_id")
            #expect(row.entry.name == "opened")
            #expect(bench.text(rejection.number.value) == expected, "without its data when there is no room")
            try bench.event("fills the room")
        }
    }
}
