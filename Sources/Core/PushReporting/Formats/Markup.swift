import PushModel

/// A line for an element or a quoted attribute of XML and HTML. What steers is shown.
public func markup(_ text: String) -> String { text.showingControls().escapedForMarkup }

/// Text from outside in GitHub's Markdown: it begins no cell of a table, no markup and no mention.
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
