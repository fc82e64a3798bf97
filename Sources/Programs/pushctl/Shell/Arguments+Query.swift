import PushModel
import PushViews
import Store

extension Arguments {
    /// The query in `--query`; `nil` without one.
    func query() throws(Failure) -> PushQuery? {
        guard let text = self[.query] else { return nil }
        do throws(QueryError) { return try PushQuery(text, now: LocalTime.now) } catch {
            throw usageFailure("--query: \(error)")
        }
    }
}

extension PushQuery {
    /// The widest range of numbers that one query of the ledger reads.
    private static let readAtOnce: Int64 = 256

    /// The requests that match.
    func matching(_ numbers: Set<SequenceNumber>, in ledger: LedgerReader) throws(StoreError) -> Set<SequenceNumber> {
        var found: Set<SequenceNumber> = []
        var rest = numbers.sorted()[...]
        while let first = rest.first {
            // Numbers that are far apart are read separately, without the requests between them.
            let part = rest.prefix { $0.value < first.value + Self.readAtOnce }
            rest = rest.dropFirst(part.count)
            for story in try ledger.stories(in: first...(part.last ?? first))
            where numbers.contains(story.request.seq) && matches(PushFacts(story)) {
                found.insert(story.request.seq)
            }
        }
        return found
    }
}
