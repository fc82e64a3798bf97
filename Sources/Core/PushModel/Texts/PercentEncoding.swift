extension String {
    /// Decodes percent escapes, as the paths, queries and forms of HTTP have them (RFC 3986, section 2.1).
    ///
    /// - Parameters:
    ///   - text: bytes with escapes.
    ///   - plusIsSpace: whether a plus stands for a space, as in `application/x-www-form-urlencoded`.
    /// - Returns: `nil` for a percent sign without two hexadecimal digits, and for bytes that are no UTF-8.
    public init?(percentDecoding text: some Collection<UInt8>, plusIsSpace: Bool) {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count)
        var rest = text.makeIterator()
        while let byte = rest.next() {
            switch byte {
            case UInt8(ascii: "%"):
                guard let high = rest.next().flatMap(hexadecimalValue(of:)),
                    let low = rest.next().flatMap(hexadecimalValue(of:))
                else { return nil }
                bytes.append(high << 4 | low)
            case UInt8(ascii: "+") where plusIsSpace: bytes.append(UInt8(ascii: " "))
            default: bytes.append(byte)
            }
        }
        self.init(validating: bytes, as: UTF8.self)
    }
}
