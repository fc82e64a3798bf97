import Testing

@testable import PushModel

@Suite("The next leader by a person's order")
struct SuccessionTests {
    private func copy(
        _ node: String, _ applied: UInt64 = 10, lag: Int64? = 0, age: Int64 = 400, isDrained: Bool = false
    ) -> CopyNote {
        CopyNote(
            node: node, applied: applied, age: .milliseconds(age), lag: lag.map { .milliseconds($0) },
            isDrained: isDrained)
    }

    private func choice(_ leader: String?, _ copies: [CopyNote]) -> Succession {
        Succession(leader: leader, copies: copies, ageLimit: .seconds(5))
    }

    @Test("is the named node, or the nearest running one")
    func chosen() throws {
        let copies = [
            copy("a"), copy("b", lag: 20), copy("c", 9, lag: 0), copy("d", 8, lag: 0), copy("e", age: 5001),
            copy("f", isDrained: true),
        ]
        let succession = choice("a", copies)
        #expect(try succession.successor(nil) == "c")
        #expect(try succession.successor("b") == "b")
    }

    @Test("is near: it was at most a second behind in a recent report")
    func near() {
        let far = [copy("b", lag: 1001), copy("b", lag: nil), copy("b", age: 5001)]
        for copy in far {
            let succession = choice("a", [copy])
            #expect(throws: Succession.Refusal.tooFarBehind(copy)) { try succession.successor("b") }
            #expect(throws: Succession.Refusal.noCandidate([copy])) { try succession.successor(nil) }
        }
        #expect(throws: Never.self) { try choice("a", [copy("b", lag: 1000, age: 5000)]).successor("b") }
    }

    @Test("is no leader, no unknown or drained node, and none without a leader to follow")
    func refused() {
        let succession = choice("a", [copy("a"), copy("b", isDrained: true)])
        #expect(throws: Succession.Refusal.leads("a")) { try succession.successor("a") }
        #expect(throws: Succession.Refusal.unknown("z")) { try succession.successor("z") }
        #expect(throws: Succession.Refusal.drained("b")) { try succession.successor("b") }
        #expect(throws: Succession.Refusal.noLeader) {
            try choice(nil, [copy("b")]).successor("b")
        }
    }

    @Test("exists before a leader is drained; a follower is drained while another node leads, or could")
    func draining() throws {
        let pair = [copy("a"), copy("b")]
        #expect(try choice("a", pair).draining("a") == "b")
        #expect(try choice("a", pair).draining("b") == nil)
        #expect(try choice(nil, pair).draining("b") == nil)
        #expect(throws: Succession.Refusal.unknown("z")) { try choice("a", pair).draining("z") }
        let last = [copy("a", isDrained: true), copy("b")]
        #expect(throws: Succession.Refusal.noCandidate([last[0]])) {
            try choice("b", last).draining("b")
        }
        #expect(throws: Succession.Refusal.noCandidate([last[0]])) {
            try choice(nil, last).draining("b")
        }
        // Without a leader a node is drained at once if it was not heard of for longer than the limit.
        #expect(throws: Succession.Refusal.self) { try choice(nil, [copy("b", age: 5000)]).draining("b") }
        #expect(try choice(nil, [copy("b", age: 5001)]).draining("b") == nil)
    }
}
