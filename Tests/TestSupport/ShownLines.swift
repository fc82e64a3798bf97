import _StringProcessing

/// The texts of a page of HTML, a line each, with what links, fields, buttons and drawings name.
public func shownLines(ofHTML html: String) -> [String] {
    let attributes = [
        "href", "action", "name", "value", "form", "title", "placeholder", "datetime", "d", "x", "y", "width", "height",
        "x1",
        "x2", "y1", "y2", "points",
    ]
    let marks = ["open", "checked", "selected", "disabled", "aria-current", "required"]
    let inline = ["td", "th", "dd", "b", "a", "span", "code", "time", "i", "small", "em", "strong", "abbr"]
    var (lines, line, isLeftOut) = ([String](), "", false)
    func end() {
        let text = line.split { $0.isWhitespace }.joined(separator: " ")
        if !text.isEmpty { lines.append(text) }
        line = ""
    }
    for part in html.split(separator: "<").dropFirst() {
        let pieces = part.split(separator: ">", maxSplits: 1, omittingEmptySubsequences: false)
        let tag = pieces[0]
        let name = tag.prefix { !$0.isWhitespace && $0 != "/" }
        if ["style", "script", "head"].contains(name) { isLeftOut = true }
        if ["/style", "/script", "/head"].contains(tag.prefix { !$0.isWhitespace }) { isLeftOut = false }
        guard !isLeftOut else { continue }
        if !name.isEmpty, !inline.contains(String(name)) { end() }
        let facts = attributes.compactMap { attribute -> String? in
            guard let begin = tag.firstRange(of: " \(attribute)=\"") else { return nil }
            return "\(attribute)=\(tag[begin.upperBound...].prefix { $0 != "\"" })"
        }
        let set = marks.filter { tag.contains(" \($0)") }
        if !(facts + set).isEmpty { line += "[\(name) \((facts + set).joined(separator: " "))] " }
        if pieces.count > 1 { line += pieces[1] }
    }
    end()
    return lines
}
