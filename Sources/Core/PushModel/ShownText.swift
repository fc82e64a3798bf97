extension String {
    /// The text with its control characters as `\x1b` and the like: a terminal shows them, and does nothing else.
    ///
    /// - Parameter kept: one that stays.
    public func showingControls(except kept: Unicode.Scalar? = nil) -> String {
        func mustBeShown(_ scalar: Unicode.Scalar) -> Bool {
            // All of the category Cc; to ask for the category takes a search.
            (scalar.value < 0x20 || 0x7F...0x9F ~= scalar.value) && scalar != kept
        }
        guard unicodeScalars.contains(where: mustBeShown) else { return self }
        return unicodeScalars.reduce(into: "") { shown, scalar in
            if mustBeShown(scalar) {
                shown += "\\x" + (scalar.value < 16 ? "0" : "") + String(scalar.value, radix: 16)
            } else {
                shown.unicodeScalars.append(scalar)
            }
        }
    }
}
