/// What a document consists of: its text, and the tape of the scan.
///
/// Nothing of it changes once it is made, so it may be read by any thread. `text` and `tape` point to memory that stays
/// where it is for as long as this object lives: the tape is freed in `deinit`, and an array keeps its elements in one
/// piece of memory of its own, which no one can change while the array is a constant here.
@usableFromInline final class JSONStorage: @unchecked Sendable {
    let bytes: [UInt8]
    @usableFromInline let text: UnsafePointer<UInt8>
    @usableFromInline let tape: UnsafePointer<JSONEntry>
    /// How many entries the tape has room for.
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
