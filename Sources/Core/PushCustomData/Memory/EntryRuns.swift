import PushModel

/// Entries that were taken out of storage together, in order of number. They stay in the runs in which they lay, and are
/// merged as they are taken: nothing is done to all of them at once.
struct EntryRuns: Sendable {
    private struct Run: Comparable, Sendable {
        var rest: Queue<HeldEntry>
        /// The number of the first one.
        var first: EntryNumber

        static func == (left: Run, right: Run) -> Bool { left.first == right.first }
        static func < (left: Run, right: Run) -> Bool { left.first < right.first }
    }

    private var runs = Heap<Run>()
    /// Those of unknown outcome, which lie in no runs.
    private var unknown: UnknownEntries?
    /// How many are left.
    private(set) var count = 0
    /// The highest number there was; `nil` when there was none.
    private(set) var last: EntryNumber?

    /// None.
    init() {}

    /// Entries of unknown outcome.
    init(_ unknown: UnknownEntries) {
        self.unknown = unknown
        count = unknown.count
    }

    /// Adds entries, in order of number.
    mutating func append(_ entries: Queue<HeldEntry>) {
        guard let first = entries.first, let newest = entries.last else { return }
        count += entries.count
        last = max(last ?? newest.number, newest.number)
        runs.insert(Run(rest: entries, first: first.number))
    }

    /// Takes the one with the lowest number.
    mutating func popFirst() -> HeldEntry? {
        if let held = unknown?.popFirst() {
            count -= 1
            return held
        }
        guard var run = runs.popFirst(), let held = run.rest.popFirst() else { return nil }
        count -= 1
        if let next = run.rest.first {
            run.first = next.number
            runs.insert(run)
        }
        return held
    }

    /// How many of those that are left are so. Looks at each.
    func count(where isSo: (HeldEntry) -> Bool) -> Int {
        runs.reduce(0) { count, run in run.rest.reduce(count) { isSo($1) ? $0 + 1 : $0 } }
    }
}
