extension QueryWord {
    /// The words as items of a list of a manual page (mdoc).
    public static var manual: String {
        allCases.map { word in
            let values = if case .words(let words) = word.values { ": \(words.joined(separator: ", "))" } else { "" }
            return """
                .It Cm \(word.rawValue) : Ns Ar value
                \(word.meaning.prefix(1).uppercased())\(word.meaning.dropFirst())\(values).
                Example:
                .Ql \(word.example)

                """
        }.joined()
    }
}
