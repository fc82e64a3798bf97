import Testing

@testable import PushModel
@testable import PushViews

@Suite("The calls of a report over time")
struct CallTimesTests {
    private let begin: Int64 = 1_795_230_480

    private func call(_ seq: Int64, at second: Int64, _ outcome: Outcome = .handled) -> ReportRow {
        var call = row(seq, outcome)
        call.acceptedAt = WallTime(milliseconds: (begin + second) * 1000)
        return call
    }

    private func times(_ rows: [ReportRow]) -> CallTimes {
        var times = CallTimes()
        for row in rows { times.add(row) }
        return times
    }

    @Test("are there one by one up to fifty, in the order of their acceptance")
    func few() {
        let rows = (1...50).map { call($0, at: 100 - $0) }
        #expect(times(rows).calls(of: 50)?.map(\.invocation.id.seq.value) == (1...50).reversed())
        #expect(times(rows + [call(51, at: 0)]).calls(of: 51) == nil)
        #expect(times(rows).calls(of: 60) == nil, "others are known by figures alone")
        #expect(times([trackerRow(1), row(2, nil)]).calls(of: 0)?.isEmpty == true, "none of these was due")
    }

    @Test(
        "are counted in 30 to 80 spans of a round length once they take longer than half a minute",
        arguments: [(60, 1), (100, 2), (400, 5), (700, 10), (1100, 15), (1790, 30)] as [(Int64, Int64)])
    func bars(_ length: Int64, _ width: Int64) throws {
        let rows = (0..<length).map { call($0 + 1, at: $0, $0 == 7 ? .timedOut : $0 == 9 ? .failed : .handled) }
        let found = try #require(times(rows).bars(of: rows.count))
        #expect(found.width == width && (30...80).contains(found.bars.count))
        #expect(found.bars.reduce(0) { $0 + $1.counts.due } == rows.count)
        #expect(found.bars.reduce(0) { $0 + $1.counts[.late] } == 1)
        #expect(found.bars.reduce(0) { $0 + $1.counts[.failed] } == 1)
        #expect(found.bars.allSatisfy { $0.begin.seconds % width == 0 })
    }

    @Test("beyond half an hour are left to the timeline")
    func long() {
        for (last, isThere) in [(1799, true), (1800, false), (1801, false)] as [(Int64, Bool)] {
            let rows = [call(1, at: 0), call(2, at: last), call(3, at: 5)]
            #expect((times(rows).bars(of: 3) != nil) == isThere, "\(last)")
            #expect(times(rows).calls(of: 3)?.count == 3)
        }
    }
}
