// Text is cut as bytes. In `Character`s, a line feed behind a carriage return, or an accent behind a space, would merge
// with it.

extension UInt8 {
    static let lineFeed = UInt8(ascii: "\n")
    static let carriageReturn = UInt8(ascii: "\r")
    static let space = UInt8(ascii: " ")
    static let backslash = UInt8(ascii: "\\")

    /// White space as in systemd.
    public var isWhitespace: Bool {
        self == .space || self == UInt8(ascii: "\t") || self == .lineFeed || self == .carriageReturn
    }

    /// An ASCII lower case letter.
    public var isLowercaseLetter: Bool { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(self) }

    /// An ASCII letter.
    public var isLetter: Bool { isLowercaseLetter || (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(self) }
}

extension ArraySlice<UInt8> {
    /// The slice without white space at both ends.
    public var trimmed: ArraySlice<UInt8> {
        let start = drop(while: \.isWhitespace)
        return start.prefix(start.count - start.reversed().prefix(while: \.isWhitespace).count)
    }

    /// The bytes as text, with U+FFFD for invalid UTF-8.
    public var text: String { String(decoding: self, as: UTF8.self) }

    /// Removes and returns the longest beginning whose bytes all satisfy `condition`.
    public mutating func take(while condition: (UInt8) -> Bool) -> ArraySlice<UInt8> {
        let taken = prefix(while: condition)
        self = dropFirst(taken.count)
        return taken
    }
}
