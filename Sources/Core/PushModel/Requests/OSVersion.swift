/// The version of an operating system, written `major[.minor[.patch]]`. Only the major number changes platform rules
/// here.
public struct OSVersion: Hashable, Sendable {
    /// The first number.
    public let major: Int

    /// - Parameter text: one to three decimal numbers separated by dots; any other text gives `nil`.
    public init?(_ text: String) {
        let parts = text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count <= 3, parts.allSatisfy({ !$0.isEmpty && $0.count <= 9 && $0.allSatisfy(\.isDigit) }),
            let major = parts.first.flatMap({ Int(Substring($0)) })
        else { return nil }
        self.major = major
    }
}
