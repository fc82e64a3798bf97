import PushModel

/// Entries removed from storage together, in order of number. They stay in their runs and are merged one by one, so
/// that no step costs time for all of them.
struct EntryRuns: Sendable {
    private struct Run: Comparable, Sendable {
        var rest: Queue<HeldEntry>
        /// The number of the first one.
        var first: EntryNumber

        static func == (left: Run, right: Run) -> Bool { left.first == right.first }
        static func < (left: Run, right: Run) -> Bool { left.first < right.first }
    }

    private var runs = Heap<Run>()
    /// Entries of unknown outcome, which are in no run.
    private var unknown: UnknownEntries?
    /// The number of entries left.
    private(set) var count = 0
    /// The highest number of all runs; `nil` without a run.
    private(set) var last: EntryNumber?

    /// A value without entries.
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

    /// Removes the entry with the lowest number.
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

    /// Counts the remaining entries of the runs that match, in linear time.
    func count(where isSo: (HeldEntry) -> Bool) -> Int {
        runs.reduce(0) { count, run in run.rest.reduce(count) { isSo($1) ? $0 + 1 : $0 } }
    }
}
