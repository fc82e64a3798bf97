import PushModel

/// The parts that pages are made of.
enum HTML {
    /// A whole document.
    static func document(_ title: String, _ head: Markup, _ body: Markup) -> Markup {
        """
        <!DOCTYPE html>
        <html lang="en">
        <head>
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <meta name="color-scheme" content="light dark">
        <title>\(title)</title>
        <link rel="icon" href="data:,">
        \(head)
        </head>
        <body>
        \(body)</body>
        </html>

        """
    }

    /// A link to a place of this page.
    static func link(_ target: String, _ text: String) -> Markup { "<a href=\"\(target)\">\(text)</a>" }

    /// A link to a push.
    static func push(_ seq: SequenceNumber, _ text: String? = nil) -> Markup {
        link("/push/\(seq)", text ?? "#\(seq)")
    }

    /// A link to the pushes that have a value, by a word of the query language.
    static func search(word: String, _ value: String) -> Markup {
        link("/?query=\("\(word):\"\(value)\"".percentEncoded)", value)
    }

    /// A time of UTC. The script tells the reader's own time beside it.
    static func time(_ time: WallTime, short: Bool = false) -> Markup {
        let text = "\(LocalZone.utc.text(time, milliseconds: !short).dropLast(7)) UTC"
        return
            "<time datetime=\"\(time.rfc3339)\"\(Markup.when(short, " title=\"\(text)\""))>\(short ? String(text.dropFirst(11).prefix(8)) : text)</time>"
    }

    /// Text as it came, line by line.
    static func pre(_ text: String, _ label: String) -> Markup {
        "<pre tabindex=\"0\" role=\"region\" aria-label=\"\(label)\">\(lines(text))</pre>\n"
    }

    /// Text with its line feeds.
    static func lines(_ text: String) -> Markup {
        Markup(made: text.shownLines.map(\.escapedForMarkup).joined(separator: "\n"))
    }

    /// Returns content that the reader folds out.
    static func details(_ summary: String, _ content: Markup, open: Bool = false) -> Markup {
        content.isEmpty
            ? "" : "<details\(Markup.when(open, " open"))><summary>\(summary)</summary>\n\(content)</details>\n"
    }

    /// Hidden fields of a form.
    static func hidden(_ fields: [(String, String)]) -> [Markup] {
        fields.map { "<input type=\"hidden\" name=\"\($0)\" value=\"\($1)\">" }
    }

    /// A field of a form with its label.
    static func field(_ name: String, _ label: String, value: String? = nil, placeholder: String = "") -> Markup {
        let hint: Markup = placeholder.isEmpty ? "" : " placeholder=\"\(placeholder)\""
        return "<label>\(label) <input name=\"\(name)\" value=\"\(value ?? "")\"\(hint)></label>\n"
    }

    /// A choice of words, and the word for none of them, which stands once if it is one of them.
    static func choice(_ name: String, _ label: String, _ words: [String], chosen: String?, none: String) -> Markup {
        let chosen = chosen == none ? "" : chosen ?? ""
        let options = ([("", none)] + words.filter { $0 != none }.map { ($0, $0) }).map { value, text -> Markup in
            "<option value=\"\(value)\"\(Markup.when(value == chosen, " selected"))>\(text)</option>"
        }
        return "<label>\(label) <select name=\"\(name)\">\(options)</select></label>\n"
    }

    /// A problem that must be read.
    static func problem(_ message: String) -> Markup {
        "<p class=\"problem\" role=\"alert\">\(message.capitalizingFirst).</p>\n"
    }

    /// A command to be copied.
    static func command(_ text: String) -> Markup {
        "<div class=\"command\">\(pre(text, "A command"))<button type=\"button\" data-copy hidden>Copy</button></div>\n"
    }

    /// The words where there is nothing yet, with the command that begins it.
    static func empty(_ text: String, _ command: String) -> Markup {
        "<section class=\"card\"><p>\(text)</p>\n\(self.command(command))</section>\n"
    }

    /// JSON with a member on each line.
    static func pretty(_ node: JSONNode, indent: String = "") -> String {
        let inner = indent + "  "
        let parts: [String]
        switch node.kind {
        case .object:
            parts = node.members.map { "\($0.key.asJSON): \(pretty($0.value, indent: inner))" }
        case .array: parts = node.elements.map { pretty($0, indent: inner) }
        case .string, .number, .bool, .null: parts = []
        }
        guard !parts.isEmpty else { return String(decoding: node.rawBytes, as: UTF8.self) }
        let (open, close) = node.kind == .object ? ("{", "}") : ("[", "]")
        return "\(open)\n\(parts.map { inner + $0 }.joined(separator: ",\n"))\n\(indent)\(close)"
    }
}
