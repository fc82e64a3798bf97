public import PushModel
import Synchronization

extension MemoryEngine {
    /// A snapshot in memory.
    struct WrittenSnapshot {
        var claim: SnapshotClaim
        var parts: [Int: [UInt8]] = [:]
        /// The snapshot and its time; `nil` while it is being written.
        var finished: (snapshot: Snapshot, at: Instant)?
    }

    /// Changes a byte of a part in each snapshot, like a faulty disk.
    public func damageParts(_ part: Int) {
        database.contents.withLock { contents in
            for place in contents.snapshots.indices { contents.snapshots[place].parts[part]?[4000] ^= 1 }
        }
    }

    /// The number of parts of all snapshots, unfinished ones included.
    public var partCount: Int { database.contents.withLock { $0.snapshots.map(\.parts.count).reduce(0, +) } }

    /// Sets the ledger schema of a snapshot.
    public func setSchema(_ schema: Int64, ofNewest place: Int) {
        database.contents.withLock { contents in
            guard let id = contents.counting.dropFirst(place).first?.claim.id,
                let index = contents.snapshots.firstIndex(where: { $0.claim.id == id })
            else { return }
            contents.snapshots[index].finished?.snapshot.schema = schema
        }
    }

    // MARK: The engine

    public func snapshots() throws(EngineProblem) -> SnapshotState {
        try read { contents in
            let total = contents.bytes(through: contents.tail.reference.number)
            return SnapshotState(
                snapshots: contents.counting.compactMap { written in
                    written.finished.map {
                        StoredSnapshot(
                            $0.snapshot, age: contents.clock - $0.at,
                            bytesBehind: total - contents.bytes(through: $0.snapshot.reference.number))
                    }
                }, claim: contents.snapshots.first { $0.finished == nil }?.claim, first: contents.first,
                last: contents.tail.reference.number, copies: contents.seen.mapValues { contents.clock - $0 })
        }
    }

    public func beginSnapshot(
        _ id: UUID128, by node: String, replacing seen: SnapshotClaim?
    ) throws(EngineProblem) -> Bool {
        try read { contents in
            contents.snapshots.removeAll { $0.finished == nil && $0.claim == seen }
            guard contents.snapshots.allSatisfy({ $0.finished != nil }) else { return false }
            contents.snapshots.append(WrittenSnapshot(claim: SnapshotClaim(id: id, node: node, moves: 0)))
            return true
        }
    }

    public func moveSnapshot(_ id: UUID128) throws(EngineProblem) -> Bool { try change(id) { _ in } }

    public func putPart(_ part: Int, of id: UUID128, _ bytes: [UInt8]) throws(EngineProblem) -> Bool {
        try change(id) { if $0.parts[part] == nil { $0.parts[part] = bytes } }
    }

    public func part(_ part: Int, of id: UUID128) throws(EngineProblem) -> [UInt8]? {
        try read { contents in contents.snapshots.first { $0.claim.id == id }?.parts[part] }
    }

    public func finishSnapshot(_ snapshot: Snapshot) throws(EngineProblem) -> Bool {
        let clock = clock
        return try change(snapshot.id) { $0.finished = (snapshot, clock) }
    }

    public func removeSnapshots(partsAtMost count: Int) throws(EngineProblem) -> Bool {
        try read { contents in
            let outdated = Set(contents.counting.dropFirst(Snapshot.kept).map(\.claim.id))
            contents.snapshots.removeAll { outdated.contains($0.claim.id) }
            return false
        }
    }

    public func trim(atMost count: Int) throws(EngineProblem) -> Int {
        try read { contents in
            guard let oldest = contents.counting.dropFirst(Snapshot.kept - 1).first?.finished?.snapshot else {
                return 0
            }
            let old = contents.batches.prefix(count).prefix {
                $0.batch.reference.number < oldest.reference.number && contents.clock - $0.at > .seconds(600)
            }
            contents.trimmedBytes += old.reduce(0) { $0 + Int64($1.batch.bytes.count) }
            contents.batches.removeFirst(old.count)
            return old.count
        }
    }

    private func change(_ id: UUID128, _ body: (inout WrittenSnapshot) -> Void) throws(EngineProblem) -> Bool {
        try read { contents in
            guard let place = contents.snapshots.firstIndex(where: { $0.claim.id == id && $0.finished == nil }) else {
                return false
            }
            contents.snapshots[place].claim.moves += 1
            body(&contents.snapshots[place])
            return true
        }
    }
}

extension MemoryEngine.Contents {
    /// The finished snapshots, the newest first.
    fileprivate var counting: [MemoryEngine.WrittenSnapshot] {
        let finished = snapshots.compactMap { written in written.finished.map { (written, $0) } }
        return finished.sorted {
            ($0.1.snapshot.reference.number, $0.1.at) > ($1.1.snapshot.reference.number, $1.1.at)
        }.map(\.0)
    }

    fileprivate func bytes(through number: UInt64) -> Int64 {
        batches.reduce(trimmedBytes) { $1.batch.reference.number <= number ? $0 + Int64($1.batch.bytes.count) : $0 }
    }
}
