import Glibc
import Synchronization
import TestSupport

@testable import PushModel
@testable import Store

/// A log whose calls take a random time before and after they act, on whichever of the store's threads they come: a seed
/// draws each order of the two threads.
final class DelayedLog: BatchLog {
    private let log: any BatchLog
    private let generator: Mutex<SeededGenerator>

    init(_ log: any BatchLog, seed: UInt64) {
        self.log = log
        generator = Mutex(SeededGenerator(seed: seed))
    }

    private func delayed<Result>(_ act: () throws(StoreError) -> Result) throws(StoreError) -> Result {
        delay()
        defer { delay() }
        return try act()
    }

    /// No delay in half of the calls, else up to 4 ms.
    private func delay() {
        let time = generator.withLock { UInt32.random(in: 0..<8000, using: &$0) }
        if time < 4000 { usleep(time) }
    }

    var position: LogPosition { log.position }
    var usage: LogUsage { log.usage }
    func hasRoom(for rows: Int) -> Bool { log.hasRoom(for: rows) }

    func append(
        _ buffer: RowBuffer, lastSequence: SequenceNumber, at time: WallTime
    ) throws(StoreError) -> LogPosition {
        try delayed { () throws(StoreError) in try log.append(buffer, lastSequence: lastSequence, at: time) }
    }

    var isShort: Bool {
        delay()
        defer { delay() }
        return log.isShort
    }

    func addSegment() throws(StoreError) -> Bool { try delayed { () throws(StoreError) in try log.addSegment() } }

    func release(through number: UInt64) {
        delay()
        log.release(through: number)
        delay()
    }

    func close() throws(StoreError) { try log.close() }

    func read(_ position: LogPosition, rows length: Int, into buffer: RowBuffer) throws(StoreError) {
        try delayed { () throws(StoreError) in try log.read(position, rows: length, into: buffer) }
    }

    func markForErasure() { log.markForErasure() }

    func overwriteNextPart() throws(StoreError) -> Bool {
        try delayed { () throws(StoreError) in try log.overwriteNextPart() }
    }

    var isClean: Bool { log.isClean }
}
