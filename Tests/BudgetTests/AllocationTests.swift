import TestSupport
import Testing

@testable import PushModel
@testable import PushRouter

/// Figures of a debug build, which do not depend on the machine; a release build has fewer. They are upper bounds, 15 %
/// above the measured values: lower them with each change that makes a delivery cheaper.
@Suite("The memory that one delivery allocates", .needs("an allocator without a sanitizer", if: Allocations.isCounted))
struct AllocationTests {
    /// The count includes the frames of accessors, which an optimised build does not have.
    private static let allocationsMax = 116
    private static let bytesMax = 9420

    @Test("from its line to its rows is bounded")
    func perDelivery() throws {
        var deliveries = try Deliveries()
        var effects = Effects(rows: RowBuffer(headroom: 0))
        func run(_ count: Int) throws -> (count: Int, bytes: Int) {
            var total = (count: 0, bytes: 0)
            for _ in 0..<count {
                let line = deliveries.line()
                let counted = try Allocations.count { try deliveries.submit(line, into: &effects) }
                total = (total.count + counted.count, total.bytes + counted.bytes)
                effects.rows?.removeAll(keeping: 1 << 20)
            }
            return total
        }
        // A first run, not counted, makes the one-time allocations and grows the tables to their devices.
        _ = try run(500)
        let deliveriesCounted = 1000
        let total = try run(deliveriesCounted)
        let (count, bytes) = (total.count / deliveriesCounted, total.bytes / deliveriesCounted)
        #expect(count <= Self.allocationsMax && bytes <= Self.bytesMax, "\(count) allocations of \(bytes) bytes")
        #expect(count > 5, "or nothing was counted")
    }
}
