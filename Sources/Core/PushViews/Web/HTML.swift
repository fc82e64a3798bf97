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

    /// A link to the pushes that have a value.
    static func search(_ word: QueryWord, _ value: String) -> Markup {
        link("/?query=\("\(word.rawValue):\"\(value)\"".percentEncoded)", value)
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

    /// A choice of words, and the word for none of them.
    static func choice(_ name: String, _ label: String, _ words: [String], chosen: String?, none: String) -> Markup {
        let options = ([("", none)] + words.map { ($0, $0) }).map { value, text -> Markup in
            "<option value=\"\(value)\"\(Markup.when(value == chosen ?? "", " selected"))>\(text)</option>"
        }
        return "<label>\(label) <select name=\"\(name)\">\(options)</select></label>\n"
    }

    /// A problem that must be read.
    static func problem(_ message: String) -> Markup {
        "<p class=\"problem\" role=\"alert\">\(message.capitalizingFirst).</p>\n"
    }

    /// A verdict with its picture.
    static func verdict(_ verdict: PushVerdict, _ icon: Icon) -> Markup {
        let more: Markup = "<p>\(verdict.sentences.joined(separator: " "))</p>"
        return
            "<div class=\"verdict \(verdict.tone.rawValue)\">\(icon.image)<div><p><b>\(verdict.head)</b></p>\(Markup.when(!verdict.sentences.isEmpty, more))</div></div>\n"
    }

    /// A command to be copied.
    static func command(_ text: String) -> Markup {
        "<div class=\"command\">\(pre(text, "A command"))<button type=\"button\" data-copy hidden>Copy</button></div>\n"
    }

    /// What stands where there is nothing yet, with the command that begins it.
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

extension WebDesk {
    /// The places of the navigation: path, name; and those behind "More".
    private static let places = [
        ("/", "Pushes"), ("/explain", "Explain"), ("/campaigns", "Campaigns"), ("/report", "Report"),
    ]
    private static let more = [
        ("/devices", "Devices and their states"), ("/senders", "Senders"), ("/deadletters", "Dead letters"),
        ("/help", "Help: search, keys, API"),
    ]

    /// A page.
    ///
    /// - Parameters:
    ///   - title: its title, plain text; also its heading, unless the content has one.
    ///   - hasHeading: whether the content has its own heading of the first level, and its own width.
    ///   - live: whether the script of the live list runs.
    func page(
        _ request: WebRequest, title: String, _ content: Markup, status: Int = 200, hasHeading: Bool = false,
        live: Bool = false
    ) -> WebResponse {
        let here = "/" + (request.path.first ?? "")
        func links(_ places: [(String, String)]) -> [Markup] {
            places.map { path, name in
                let isCurrent = path == here || path == "/" && here == "/push"
                return "<li><a href=\"\(path)\"\(Markup.when(isCurrent, " aria-current=\"page\""))>\(name)</a></li>"
            }
        }
        let person = facts.access.person(request).map { " for \($0)" } ?? ""
        let acts = daemon.mayInject || daemon.mayControl ? "acts as" : "only reads, as"
        let delay: Markup? = source.delay.map { "<p class=\"note\">\($0)</p>\n" }
        let query = here == "/" ? request.query["query"] ?? "" : ""
        let whole: Markup = hasHeading ? content : "<div class=\"whole\">\n<h1>\(title)</h1>\n\(content)</div>\n"
        let head: Markup = """
            <link rel="stylesheet" href="\(WebAsset.style.path)">
            <script src="\(WebAsset.keys.path)" defer></script>
            \(Markup.when(live, "<script src=\"\(WebAsset.live.path)\" defer></script>"))
            """
        let body: Markup = """
            \(Icon.sprite)
            <a class="skip" href="#main">To the content</a>
            <header class="top">
            <a class="brand" href="/">pushrouter</a>
            <nav aria-label="Views"><ul>\(links(Self.places))</ul></nav>
            <form role="search" method="get" action="/"><label class="sr" for="query">Search pushes</label><input id="query" name="query" type="search" value="\(query)" placeholder="Search: order shipped, device:pixel-8, is:late ( / )" autocomplete="off" spellcheck="false"></form>
            <details class="menu"><summary class="button">More</summary><div><nav aria-label="More views"><ul>\(links(Self.more))</ul></nav><p class="soft">This page \(acts) \(facts.actor)\(person). Times are of UTC.</p></div></details>
            </header>
            <main id="main">
            \(delay)\(whole)</main>

            """
        return .html(HTML.document("\(title) - pushrouter", head, body).html, status: status)
    }

    /// A page that says what is wrong.
    func page(_ request: WebRequest, _ problem: WebProblem) -> WebResponse {
        let title =
            switch problem.status {
            case 404: "Not found"
            case 410: "Gone"
            case 403, 405: "Not allowed"
            case 503: "No answer"
            default: "Not done"
            }
        return page(request, title: title, HTML.problem(problem.message), status: problem.status)
    }

    /// A button that sends a form.
    ///
    /// - Parameters:
    ///   - fields: hidden ones.
    ///   - more: the fields that are seen.
    func button(_ action: String, _ text: String, _ fields: [(String, String)] = [], more: Markup = "") -> Markup {
        "<form method=\"post\" action=\"\(action)\">\(formToken)\(HTML.hidden(fields))\(more)<button>\(text)</button></form>\n"
    }

    /// The proof of the page's own forms.
    var formToken: [Markup] { HTML.hidden([(WebAccess.formField, facts.access.formToken)]) }
}
