import PushModel
import Testing

@testable import PushFleet

@Suite("The fate of a batch that a leader appends")
struct ChainWriterTests {
    private let first = BatchReference(number: 1, id: UUID128(high: 0, low: 1))

    @Test("is known at the end of its commit")
    func acknowledged() {
        var writer = ChainWriter(after: .start)
        let (reference, step) = writer.begin(id: first.id)
        #expect(reference == first && step == .append)
        #expect(writer.answered(.there) == .acknowledge)
        #expect(writer.last == first && writer.pending == nil)
    }
}
