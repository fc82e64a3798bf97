import PushModel

// Fuzzes the rows of a batch, as recovery reads them from the log: any bytes must give rows whose values lie in them, or
// an error; nothing may trap, and nothing may be read beyond the bytes.

@c(LLVMFuzzerTestOneInput)
public func fuzzRows(_ start: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
    let bytes = UnsafeRawBufferPointer(start: start, count: count)
    var reader = RowReader(bytes)
    do {
        while let (_, values) = try reader.next() {
            var values = values
            while !values.isAtEnd {
                switch try values.next() {
                case .null, .integer: break
                case .text(let part), .bytes(let part): check(part, in: bytes)
                }
            }
        }
    } catch {
        precondition(!error.message.isEmpty, "an error that says nothing")
    }
    return 0
}

private func check(_ part: UnsafeRawBufferPointer, in bytes: UnsafeRawBufferPointer) {
    guard !part.isEmpty, let partStart = part.baseAddress, let start = bytes.baseAddress else { return }
    precondition(
        partStart >= start && partStart + part.count <= start + bytes.count, "a value lies beyond the bytes")
}
