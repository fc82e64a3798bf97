/// `text` for an element or a quoted attribute of XML and HTML. A character that XML does not allow becomes U+FFFD.
func markup(_ text: String) -> String {
    text.unicodeScalars.reduce(into: "") { escaped, scalar in
        switch scalar {
        case "&": escaped += "&amp;"
        case "<": escaped += "&lt;"
        case ">": escaped += "&gt;"
        case "\"": escaped += "&quot;"
        case "'": escaped += "&#39;"
        case "\n", "\t": escaped.unicodeScalars.append(scalar)
        case _ where scalar.value < 0x20 || (0x7F...0x9F).contains(scalar.value) || scalar.value & 0xFFFE == 0xFFFE:
            escaped += "\u{FFFD}"
        default: escaped.unicodeScalars.append(scalar)
        }
    }
}
