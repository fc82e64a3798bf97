import PushModel

/// A part of a page: markup that is safe. Texts from outside become part of it by ``markup(_:)`` alone.
enum HTML {
    /// A link to a place of this page.
    static func link(_ target: String, _ text: String) -> String { "<a href=\"\(markup(target))\">\(markup(text))</a>" }

    /// A time: UTC as text, which the script shows in the reader's zone.
    static func time(_ time: WallTime, short: Bool = false) -> String {
        let text = LocalZone.utc.text(time, milliseconds: !short)
        let shown = short ? String(text.dropFirst(11).prefix(8)) : text.replacingUTC
        return "<time datetime=\"\(time.rfc3339)\"\(short ? " data-short title=\"\(text)\"" : "")>\(shown)</time>"
    }

    /// Text as it came, line by line.
    static func pre(_ text: String, label: String) -> String {
        "<pre tabindex=\"0\" role=\"region\" aria-label=\"\(markup(label))\">\(text.shownLines.map(\.escapedForMarkup).joined(separator: "\n"))</pre>\n"
    }

    /// Returns content that the reader folds out.
    static func details(_ summary: String, _ content: String, open: Bool = false) -> String {
        content.isEmpty
            ? "" : "<details\(open ? " open" : "")><summary>\(markup(summary))</summary>\n\(content)</details>\n"
    }

    /// A section with its heading; an empty one is left out.
    static func section(_ id: String, _ heading: String, _ content: String) -> String {
        guard !content.isEmpty else { return "" }
        return
            "<section id=\"\(id)\" aria-labelledby=\"\(id)-h\">\n<h2 id=\"\(id)-h\">\(markup(heading))</h2>\n\(content)</section>\n"
    }

    /// A field of a form with its label.
    static func field(_ name: String, _ label: String, value: String? = nil, placeholder: String = "") -> String {
        let hint = placeholder.isEmpty ? "" : " placeholder=\"\(markup(placeholder))\""
        return "<label>\(markup(label)) <input name=\"\(name)\" value=\"\(markup(value ?? ""))\"\(hint)></label>\n"
    }

    /// A choice of words.
    static func choice(_ name: String, _ label: String, _ words: [String], chosen: String?, none: String? = nil)
        -> String
    {
        let all = (none.map { [("", $0)] } ?? []) + words.map { ($0, $0) }
        let options = all.map { value, text in
            "<option value=\"\(markup(value))\"\(value == chosen ?? "" ? " selected" : "")>\(markup(text))</option>"
        }
        return "<label>\(markup(label)) <select name=\"\(name)\">\(options.joined())</select></label>\n"
    }

    /// JSON with a member on each line.
    static func pretty(_ node: JSONNode) -> String {
        var text = ""
        write(node, indent: 0, to: &text)
        return text
    }

    private static func write(_ node: JSONNode, indent: Int, to text: inout String) {
        let (inner, outer) = (String(repeating: "  ", count: indent + 1), String(repeating: "  ", count: indent))
        switch node.kind {
        case .object where node.count > 0:
            text += "{\n"
            for (index, member) in node.members.enumerated() {
                var key = JSONWriter()
                key.string(member.key)
                text += (index == 0 ? "" : ",\n") + inner + String(decoding: key.bytes, as: UTF8.self) + ": "
                write(member.value, indent: indent + 1, to: &text)
            }
            text += "\n\(outer)}"
        case .array where node.count > 0:
            text += "[\n"
            for (index, element) in node.elements.enumerated() {
                text += (index == 0 ? "" : ",\n") + inner
                write(element, indent: indent + 1, to: &text)
            }
            text += "\n\(outer)]"
        case .object, .array, .string, .number, .bool, .null: text += String(decoding: node.rawBytes, as: UTF8.self)
        }
    }
}

extension String {
    /// A time of UTC with the zone's name in place of its offset.
    fileprivate var replacingUTC: String { hasSuffix(" +00:00") ? dropLast(7) + " UTC" : self }
}

extension WebDesk {
    /// The places of the navigation: path, name; and those behind "More".
    private static let places = [
        ("/", "Pushes"), ("/explain", "Explain"), ("/campaigns", "Campaigns"), ("/report", "Report"),
    ]
    private static let more = [
        ("/devices", "Devices and their states"), ("/handlers", "Handlers"), ("/lanes", "Lanes"),
        ("/senders", "Senders"), ("/deadletters", "Dead letters"), ("/help", "Help: search, keys, API"),
    ]

    /// A page of markup that the helpers of ``HTML`` made.
    func page(
        _ request: WebRequest, title: String, _ content: String, status: Int = 200
    ) -> WebResponse {
        let whole: Markup = "<div class=\"whole\">\n<h1>\(title)</h1>\n\(Markup(made: content))</div>\n"
        return page(request, title: title, whole, status: status)
    }

    /// A page.
    ///
    /// - Parameters:
    ///   - title: its title, plain text.
    ///   - content: the content of its main part, with a heading of the first level.
    ///   - live: whether the script of the live list runs.
    ///   - isWide: whether it takes the whole width.
    func page(
        _ request: WebRequest, title: String, _ content: Markup, status: Int = 200, live: Bool = false,
        isWide: Bool = false
    ) -> WebResponse {
        let here = "/" + (request.path.first ?? "")
        func links(_ places: [(String, String)]) -> [Markup] {
            places.map { path, name in
                let isCurrent = path == here || path == "/" && here == "/push"
                return "<li><a href=\"\(path)\"\(Markup.when(isCurrent, " aria-current=\"page\""))>\(name)</a></li>"
            }
        }
        let person = facts.access.person(request).map { " for \($0)" } ?? ""
        let acts =
            daemon.mayInject || daemon.mayControl
            ? "This page acts as \(facts.actor)\(person)" : "This page only reads, as \(facts.actor)\(person)"
        let delay: Markup? = source.delay.map { "<p class=\"note\">\($0)</p>\n" }
        let query = here == "/" ? request.query["query"] ?? "" : ""
        let text: Markup = """
            <!DOCTYPE html>
            <html lang="en"\(Markup.when(facts.usesUTC, " data-utc"))>
            <head>
            <meta charset="utf-8">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <meta name="color-scheme" content="light dark">
            <title>\(title) - pushrouter</title>
            <link rel="icon" href="data:,">
            <link rel="stylesheet" href="\(WebAsset.style.path)">
            <script src="\(WebAsset.keys.path)" defer></script>
            \(Markup.when(live, "<script src=\"\(WebAsset.live.path)\" defer></script>\n"))</head>
            <body\(Markup.when(isWide, " class=\"wide-page\""))>
            \(Icon.sprite)
            <a class="skip" href="#main">To the content</a>
            <header class="top">
            <a class="brand" href="/">pushrouter</a>
            <nav aria-label="Views"><ul>\(links(Self.places))</ul></nav>
            <form role="search" method="get" action="/"><label class="sr" for="query">Search pushes</label><input id="query" name="query" type="search" value="\(query)" placeholder="Search: order shipped, device:pixel-8, is:late ( / )" autocomplete="off" spellcheck="false"></form>
            <details class="menu"><summary class="button">More</summary><div><nav aria-label="More views"><ul>\(links(Self.more))</ul></nav><p class="soft">\(acts).</p></div></details>
            </header>
            <main id="main">
            \(delay)\(content)</main>
            </body>
            </html>

            """
        return .html(text.html, status: status)
    }

    /// A page that says what is wrong.
    func page(_ request: WebRequest, title: String, problem: WebProblem) -> WebResponse {
        page(
            request, title: title,
            "<p class=\"problem\" role=\"alert\">\(markup(problem.message.capitalizingFirstLetter)).</p>\n",
            status: problem.status)
    }

    /// A button that sends a form.
    ///
    /// - Parameter fields: hidden ones.
    func button(_ action: String, _ text: String, _ fields: [(String, String)] = [], more: String = "") -> String {
        let hidden = ([(WebAccess.formField, facts.access.formToken)] + fields).map { name, value in
            "<input type=\"hidden\" name=\"\(name)\" value=\"\(markup(value))\">"
        }
        return
            "<form method=\"post\" action=\"\(markup(action))\">\(hidden.joined())\(more)<button>\(markup(text))</button></form>\n"
    }
}

extension String {
    var capitalizingFirstLetter: String { prefix(1).uppercased() + dropFirst() }
}
