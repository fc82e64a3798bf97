/// The storage of a document: its text, and the tape of the scan.
///
/// It never changes, so any thread may read it. `text` and `tape` point to memory that stays in place while this object
/// lives: `deinit` frees the tape, and the array `bytes` keeps its elements in one heap block, which no code can change
/// while the array is a constant here.
@usableFromInline final class JSONStorage: @unchecked Sendable {
    let bytes: [UInt8]
    @usableFromInline let text: UnsafePointer<UInt8>
    @usableFromInline let tape: UnsafePointer<JSONEntry>
    /// The capacity of the tape in entries.
    let tapeCapacity: Int

    init(scanning bytes: [UInt8], limits: JSONLimits) throws(JSONError) {
        let scanned = try bytes.withUnsafeBufferPointer { (text) throws(JSONError) in
            let tape = try JSONScanner.tape(of: text, limits: limits)
            return (text: text.baseAddress, tape: tape.entries, capacity: tape.capacity)
        }
        tapeCapacity = scanned.capacity
        self.bytes = bytes
        guard let text = scanned.text else { preconditionFailure("an empty text passed the scan") }
        self.text = text
        tape = UnsafePointer(scanned.tape)
    }

    deinit { tape.deallocate() }
}
