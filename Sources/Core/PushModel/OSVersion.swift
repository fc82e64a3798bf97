/// The version of an operating system, written `major[.minor[.patch]]`. What depends on it here changed with a major one.
public struct OSVersion: Hashable, Sendable {
    /// The first number.
    public let major: Int

    /// - Parameter text: one to three decimal numbers with dots between them; anything else is `nil`.
    public init?(_ text: String) {
        let parts = text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count <= 3, parts.allSatisfy({ !$0.isEmpty && $0.count <= 9 && $0.allSatisfy(\.isDigit) }),
            let major = parts.first.flatMap({ Int(Substring($0)) })
        else { return nil }
        self.major = major
    }
}
