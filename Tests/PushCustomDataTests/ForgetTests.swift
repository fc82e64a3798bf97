import Testing

@testable import PushModel
@testable import PushRouter

@Suite("Custom data of a forgotten person")
struct ForgetTests {
    private let anna = Person(externalID: "anna", devices: ["phone"])
    private let all = EntryNumber(.max)

    @Test("is removed in every state, with its bytes; another user's entries stay, even on a shared device")
    func waiting() throws {
        var bench = CustomDataBench()
        try bench.event("own", device: "laptop", user: "anna")
        try bench.event("device", device: "phone")
        try bench.event("sister", device: "phone", user: "berta")
        try bench.event("elsewhere", device: "tablet")
        try bench.log(.customEvent, #"{"name":"sent"}"#, to: .sent(.externalID("anna")), device: "server")
        try bench.log(.customEvent, #"{"name":"other"}"#, to: .sent(.externalID("berta")), device: "server")
        try bench.log(.customEvent, #"{"name":"lost"}"#, to: .sent(.externalID("anna")), device: "server")
        #expect(bench.claim() == [5, 6, 7])
        bench.settle(5, .queued)
        bench.settle(6, .queued)
        bench.settle(7, .unknown)
        #expect(!bench.data.isBusy(with: anna, through: all))
        bench.data.forget(anna, through: all)
        #expect(bench.data.summary.pending == 2)
        #expect(bench.data.summary.queued == 1)
        #expect(bench.data.summary.unknown == 0)
        // The names "sister", "elsewhere" and "other", each with the two bytes of its data.
        #expect(bench.data.summary.bytes == 6 + 9 + 5 + 3 * 2)
        #expect(bench.claim() == [6])
    }

    @Test("cannot be removed while the forwarder has some of it, or while entries leave their suites")
    func busy() throws {
        var bench = CustomDataBench()
        try bench.log(.customEvent, #"{"name":"sent"}"#, to: .sent(.externalID("anna")))
        #expect(!bench.data.isBusy(with: anna, through: all))
        #expect(bench.claim() == [1])
        #expect(bench.data.isBusy(with: anna, through: all))
        #expect(!bench.data.isBusy(with: Person(externalID: "berta"), through: all))
        bench.settle(1, .queued)
        #expect(bench.reserve() == [1])
        #expect(bench.data.isBusy(with: anna, through: all))
        bench.settle(1, .queued)
        #expect(!bench.data.isBusy(with: anna, through: all))

        for number in 0..<5000 { try bench.event("e\(number)") }
        bench.flush()
        #expect(
            bench.data.isBusy(with: Person(externalID: "berta"), through: all), "what a turn left over is on its way")
        while bench.data.isRemoving { bench.continueRemoval() }
        #expect(!bench.data.isBusy(with: anna, through: all))
    }

    @Test("up to a number: what came later stays, and does not hold up the removal")
    func bound() throws {
        var bench = CustomDataBench()
        try bench.event("before", device: "phone", user: "anna")
        try bench.log(.customEvent, #"{"name":"sent"}"#, to: .sent(.externalID("anna")))
        try bench.event("after", device: "phone", user: "anna")
        try bench.log(.customEvent, #"{"name":"late"}"#, to: .sent(.externalID("anna")))
        #expect(bench.claim() == [2, 4])
        bench.settle(2, .queued)
        #expect(bench.data.isBusy(with: anna, through: EntryNumber(4)))
        #expect(!bench.data.isBusy(with: anna, through: EntryNumber(3)))
        bench.data.forget(anna, through: EntryNumber(2))
        #expect(bench.data.summary.pending == 1 && bench.data.summary.claimed == 1)
        #expect(bench.data.summary.queued == 0)
    }
}
