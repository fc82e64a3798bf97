extension UInt8 {
    /// Whether the byte is white space in JSON.
    public var isJSONWhiteSpace: Bool {
        self == UInt8(ascii: " ") || self == UInt8(ascii: "\t") || self == UInt8(ascii: "\n")
            || self == UInt8(ascii: "\r")
    }
}

extension JSONNode {
    /// The bytes of the value without the white space between its tokens, on one line.
    public var compactBytes: [UInt8] { withView { $0.compactBytes } }
}

extension JSONView {
    /// The bytes of the value without the white space between its tokens, on one line.
    public var compactBytes: [UInt8] {
        var isInString = false
        var isEscaped = false
        return rawBytes.filter { byte in
            guard isInString else {
                isInString = byte == UInt8(ascii: "\"")
                return !byte.isJSONWhiteSpace
            }
            if byte == UInt8(ascii: "\""), !isEscaped { isInString = false }
            isEscaped = byte == UInt8(ascii: "\\") && !isEscaped
            return true
        }
    }
}
