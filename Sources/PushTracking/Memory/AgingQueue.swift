import PushModel

/// Goes round the entries of a table to find those that were not used for long. A use costs nothing: each entry is looked
/// at now and then, and gets another round if it was used since.
struct AgingQueue: Sendable {
    private struct Visit: Sendable {
        var slot: UInt32
        /// What tells the entry from a later one in the same slot.
        var number: Int64
        /// When it had last been used, at the visit.
        var used: UInt32
    }

    private var visits = Queue<Visit>()

    /// Adds an entry that is new.
    mutating func append(_ slot: UInt32, number: Int64 = 0, used: UInt32) {
        visits.append(Visit(slot: slot, number: number, used: used))
    }

    /// Takes out an entry that was last used before `horizon`, or, when there are too many, one that was not used since
    /// the last visit.
    ///
    /// - Parameter lastUse: when an entry was last used; `nil`: there is no such entry any more.
    mutating func popOld(before horizon: Int64, tooMany: Bool, lastUse: (UInt32, Int64) -> UInt32?) -> UInt32? {
        // Two visits for each addition keep up, however many entries have gone by themselves.
        var looks = tooMany ? visits.count + 1 : 2
        while looks > 0, let visit = visits.popFirst() {
            looks -= 1
            guard let used = lastUse(visit.slot, visit.number) else { continue }
            if Int64(used) < horizon || tooMany && used == visit.used { return visit.slot }
            visits.append(Visit(slot: visit.slot, number: visit.number, used: used))
        }
        return nil
    }
}
