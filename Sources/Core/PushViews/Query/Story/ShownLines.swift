import PushModel

extension StringProtocol {
    /// The lines of a text from outside, each safe to be shown as one; a carriage return before a line feed is none of a line's,
    /// and a tab is four spaces: stack traces have many.
    public var shownLines: [String] {
        split(omittingEmptySubsequences: false) { $0 == "\n" || $0 == "\r\n" }.map { line in
            line.reduce(into: "") { $0 += $1 == "\t" ? "    " : String($1) }.showingControls()
        }
    }
}
