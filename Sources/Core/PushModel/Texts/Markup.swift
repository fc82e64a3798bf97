extension String {
    /// The text escaped for an element or a quoted attribute of XML and HTML; U+FFFD replaces characters that XML does
    /// not allow.
    public var escapedForMarkup: String {
        unicodeScalars.reduce(into: "") { escaped, scalar in
            switch scalar {
            case "&": escaped += "&amp;"
            case "<": escaped += "&lt;"
            case ">": escaped += "&gt;"
            case "\"": escaped += "&quot;"
            case "'": escaped += "&#39;"
            case _ where scalar.value & 0xFFFE == 0xFFFE: escaped += "\u{FFFD}"
            default: escaped.unicodeScalars.append(scalar)
            }
        }
    }
}
