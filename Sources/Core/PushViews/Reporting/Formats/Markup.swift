import PushModel

/// Returns a text for an element or a quoted attribute of XML and HTML, with its control characters made visible.
func markup(_ text: String) -> String { text.showingControls().escapedForMarkup }

/// Returns external text for GitHub's Markdown, escaped so that it starts no table cell, markup or mention.
public func markdownCell(_ text: String) -> String {
    text.showingControls().unicodeScalars.reduce(into: "") { escaped, scalar in
        switch scalar {
        case "|", "*", "_", "`", "[", "]", "#", "~", "\\", "!": escaped += "\\" + String(scalar)
        case "@": escaped += "@\u{200B}"
        case "'", "\"": escaped.unicodeScalars.append(scalar)
        default: escaped += markup(String(scalar))
        }
    }
}
