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

@Suite("The quotas of sends")
struct SendQuotasTests {
    private func quotas() -> SendQuotas {
        var rules = QuotaRules()
        (rules.projectPerMinute, rules.devicePerMinute, rules.devicePerHour, rules.appleDevicePerMinute) = (1, 1, 0, 1)
        return SendQuotas(rules)
    }

    @Test(
        "count in bounded memory: the counts begin again behind 65,536 names", arguments: ["project", "FCM", "Apple"])
    func remembered(kind: String) {
        for (others, isOver) in [(1, true), (65_535, true), (65_536, false)] {
            var quotas = quotas()
            func send(_ name: String) {
                switch kind {
                case "project": _ = quotas.take(project: name, token: nil, at: 0)
                case "FCM": _ = quotas.take(project: nil, token: name, at: 0)
                default: _ = quotas.take(appleToken: name, at: 0)
                }
            }
            send("first")
            for number in 0..<others { send("other \(number)") }
            #expect(quotas.over == 0)
            send("first")
            #expect((quotas.over == 1) == isOver, "\(others) others")
        }
    }
}

@Suite("The path of a request for people")
struct ShortenedPathTests {
    @Test(
        "has the middle of each part of more than 32 bytes cut out, and no query", arguments: [1, 31, 32, 33, 34, 200])
    func parts(length: Int) {
        let part = (0..<length).map { String($0 % 10) }.joined()
        let shown = length <= 32 ? part : "\(part.prefix(8))…\(part.suffix(4))"
        for (before, after) in [("/", ""), ("/3/device/", ""), ("/v1/", "/topics/news"), ("/", "/")] {
            #expect(RequestTarget("\(before)\(part)\(after)").shortened == "\(before)\(shown)\(after)")
            #expect(RequestTarget("\(before)\(part)\(after)?a=\(part)").shortened == "\(before)\(shown)\(after)")
        }
        #expect(RequestTarget("/\(part)/\(part)").shortened == "/\(shown)/\(shown)")
    }
}
