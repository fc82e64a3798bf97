/// A count with its noun, for people: `1 entry`, `2 entries`. Every text that counts says it so.
///
/// - Parameters:
///   - count: how many.
///   - noun: what one is called.
///   - plural: what several are called; `nil`: the noun with an `s`.
public func counted(_ count: some BinaryInteger, _ noun: String, _ plural: String? = nil) -> String {
    "\(count) \(count == 1 ? noun : plural ?? noun + "s")"
}
