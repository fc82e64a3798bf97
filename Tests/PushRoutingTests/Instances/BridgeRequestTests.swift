import Testing

@testable import PushModel
@testable import PushRouter

@Suite("A line with op from a bridge")
struct BridgeRequestTests {
    private struct Sender: BridgeSettings {
        static let name = "sender"
        static let purpose = "sends"
        static let sendsRequests = true
    }

    private struct Silent: BridgeSettings {
        static let name = "silent"
        static let purpose = "sends nothing"
    }

    private static let request = #"{"op":"session","kind":"start","app":"shop","device":"pixel"}"#

    private func opened(_ bridge: Bridge?) -> PoolBench {
        var pool = PoolBench(bridge: bridge)
        #expect(pool.start(1) == ["open 1"])
        #expect(pool.opened(1) == ["send 1 as 1 to 1", "started 1"])
        return pool
    }

    @Test("is a request if the bridge may send some, with any id, and leaves the invocation waiting")
    func request() {
        var pool = opened(Bridge(Sender()))
        #expect(pool.writes(Self.request, 1) == ["request \(Self.request)"])
        let withID = #"{"op":"deliver","id":1,"status":"handled"}"#
        #expect(pool.writes(withID, 1) == ["request \(withID)"])
        #expect(pool.seen[1] == nil)
        #expect(pool.answers(1) == ["finished 1 handled"])
        #expect(pool.writes(Self.request, 1) == ["request \(Self.request)"], "also while it has nothing to answer")
    }

    @Test("never counts as a line without an answer")
    func flood() {
        var pool = opened(Bridge(Sender()))
        for _ in 0...InstancePool.strayLinesMax { #expect(pool.writes(Self.request, 1).count == 1) }
        #expect(pool.answers(1) == ["finished 1 handled"])
    }

    @Test("answers nothing from a bridge that may send none, and from a worker", arguments: [true, false])
    func stray(isBridge: Bool) {
        var pool = opened(isBridge ? Bridge(Silent()) : nil)
        #expect(pool.writes(Self.request, 1) == [])
        #expect(pool.seen[1]?.hasSuffix("wrote a line without the \"id\" that it answers") == true)
        for _ in 2..<InstancePool.strayLinesMax { #expect(pool.writes(Self.request, 1) == []) }
        #expect(pool.writes(Self.request, 1).contains("close 1"))
    }
}
