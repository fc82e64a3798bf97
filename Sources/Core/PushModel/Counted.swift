/// Returns a count with its noun, for people: `1 entry`, `2 entries`. All texts with counts use this function.
///
/// - Parameters:
///   - count: the count.
///   - noun: the noun in the singular.
///   - plural: the noun in the plural; `nil`: the singular with an `s`.
public func counted(_ count: some BinaryInteger, _ noun: String, _ plural: String? = nil) -> String {
    "\(count) \(count == 1 ? noun : plural ?? noun + "s")"
}
