import PushModel

extension HTML {
    /// A link to the pushes that have a value.
    static func search(_ word: QueryWord, _ value: String) -> Markup {
        search(word: word.rawValue, value)
    }

    /// A verdict with its picture.
    static func verdict(_ verdict: PushVerdict, _ icon: Icon) -> Markup {
        let more: Markup = "<p>\(verdict.sentences.joined(separator: " "))</p>"
        return
            "<div class=\"verdict \(verdict.tone.rawValue)\">\(icon.image)<div><p><b>\(verdict.head)</b></p>\(Markup.when(!verdict.sentences.isEmpty, more))</div></div>\n"
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
