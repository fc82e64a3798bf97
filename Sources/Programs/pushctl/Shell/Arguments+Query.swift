import PushModel
import PushQuery
import Store

extension Arguments {
    /// The query of `--query`; `nil` where none is given.
    func query() throws(Failure) -> PushQuery? {
        guard let text = self[.query] else { return nil }
        do throws(QueryError) { return try PushQuery(text, now: LocalTime.now) } catch {
            throw usageFailure("--query: \(error)")
        }
    }
}

extension PushQuery {
    /// As many numbers as are read at once.
    private static let readAtOnce: Int64 = 256

    /// Those of some requests that match.
    func matching(_ numbers: Set<SequenceNumber>, in ledger: LedgerReader) throws(StoreError) -> Set<SequenceNumber> {
        var found: Set<SequenceNumber> = []
        var rest = numbers.sorted()[...]
        while let first = rest.first {
            // Numbers that lie far from each other are not read with all between them.
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
