/// A count with its noun, for people: `1 entry`, `2 entries`. Every text with a count calls this function.
///
/// - Parameters:
///   - count: the number.
///   - noun: the noun in the singular.
///   - plural: the noun in the plural; `nil`: the noun with an `s`.
public func counted(_ count: some BinaryInteger, _ noun: String, _ plural: String? = nil) -> String {
    "\(count) \(count == 1 ? noun : plural ?? noun + "s")"
}
