import Testing

@testable import PushGateway

@Suite("The sends of a window")
struct RecentSendsTests {
    /// The times that each send came, by its name.
    private func times(_ sends: [(name: UInt64, at: Int64)], limit: Int = 9) -> [Int64] {
        var recent = RecentSends(limit: limit, window: 100)
        return sends.map { recent.take($0.name, at: $0.at) }
    }

    @Test("are counted by name, without a pause longer than the window")
    func window() {
        #expect(times([(1, 0), (1, 100), (2, 100), (1, 200), (1, 301), (2, 301)]) == [1, 2, 1, 3, 1, 1])
    }

    @Test("are remembered up to the limit, and the oldest is forgotten first")
    func limit() {
        #expect(times([(1, 0), (2, 1), (1, 2)], limit: 2) == [1, 1, 2])
        #expect(times([(1, 0), (2, 1), (3, 2), (1, 3)], limit: 2) == [1, 1, 1, 1])
        #expect(times([(1, 0), (2, 1), (3, 2), (3, 3)], limit: 2) == [1, 1, 1, 2])
    }
}
