import PushModel

extension WebDesk {
    /// The number of rows of a page, and of the pushes that it reads for them: pushes alike take one row.
    private static let lengths = (rows: 50, pushes: 300)
    /// The number of pushes alike from which on they take one row.
    private static let alike = 3

    /// The searches that a person wants most, as links.
    private static let searches = [
        SavedSearch(name: "All", query: "") { _ in 0 },
        outcomes("Problems", [.failed, .timedOut, .expired, .unrouted, .sdkNotReady]),
        SavedSearch(name: "Refused", query: "code:refused_send") { $0.refused },
        SavedSearch(name: "Running", query: "is:pending") { $0.running },
        SavedSearch(name: "Opened", query: "is:opened") { _ in 0 },
        outcomes("Not shown", [.notWoken, .swallowed, .duplicate], but: " -code:refused_send"),
    ]

    private static func outcomes(_ name: String, _ outcomes: [Outcome], but: String = "") -> SavedSearch {
        let words = outcomes.map(\.rawValue).joined(separator: ",")
        return SavedSearch(name: name, query: "outcome:\(words)\(but)") { counts in
            outcomes.reduce(0) { $0 + (counts.ended[$1] ?? 0) }
        }
    }

    /// A search as a link, with the number of such callbacks in the last day; 0: it is not counted.
    private struct SavedSearch: Sendable {
        let name: String
        let query: String
        let count: @Sendable (OutcomeCounts) -> Int
    }

    /// The list of pushes, and beside it on a wide screen the one that is chosen.
    func list(_ request: WebRequest) throws(WebProblem) -> WebAnswer {
        let text = request.query["query"] ?? ""
        let query: PushQuery
        do throws(QueryError) { query = try PushQuery(text, now: now()) } catch {
            let problem = "<p class=\"problem\" role=\"alert\">\(markup("\(error)")).</p>\n"
            return .response(page(request, title: "Pushes", problem + Self.words, status: 400))
        }
        let before = try number("before", of: request)
        let position = try reading { () throws(SourceError) in try source.position() }
        let each = request.query["each"] == "1"
        let (rows, found, newest) = try rows(query, before: before, each: each)
        let isEmpty = newest == nil
        let live: Markup =
            before == nil ? " data-position=\"\(position.description)\" data-query=\"\(query.text)\"" : ""
        let beside = pane(newest)
        let choose: Markup = "<p class=\"soft\">Choose a push: it is shown here.</p>"
        // The push beside the list is what the page is about.
        let heading: Markup =
            beside == nil
            ? "<h1 class=\"sr\" id=\"list-h\">Pushes, the newest first</h1>"
            : "<h2 class=\"sr\" id=\"list-h\">Pushes, the newest first</h2>"
        let content: Markup = """
            <div class="panes">
            <section class="list" aria-labelledby="list-h">\(heading)
            <div class="head">\(chips(query.text))</div>
            <button type="button" id="new" hidden aria-live="polite"></button>
            <ol id="pushes"\(live)>
            \(rows)</ol>
            \(Markup.when(isEmpty, emptyText(query, found)))\(rest(found, path: each ? "/?each=1&" : "/?", query.text))
            <p class="keys"><kbd>/</kbd> search <kbd>j</kbd> <kbd>k</kbd> next, previous <kbd>Enter</kbd> open <kbd>?</kbd> help</p>
            </section>
            <aside class="pane" id="pane" aria-label="The chosen push">\(beside ?? choose)</aside>
            </div>

            """
        return .response(page(request, title: "Pushes", content, live: before == nil, isWide: true))
    }

    /// The longest request that stands beside the list at once: a page with a list has at most 60 KiB.
    private static let paneMax = 4 << 10

    /// The newest push of the list, until another one is chosen.
    private func pane(_ newest: AcceptedRequest?) -> Markup? {
        guard let newest, newest.operation == .deliver, newest.body.count <= Self.paneMax,
            let story = try? story(newest.seq)
        else { return nil }
        return PushView(story, desk: self).article
    }

    /// The rows of a page: the pushes that match, those alike in one row.
    private func rows(
        _ query: PushQuery, before: SequenceNumber?, each: Bool
    ) throws(WebProblem) -> (rows: Markup, found: PushPage, newest: AcceptedRequest?) {
        var rows: [Markup] = []
        var newest: AcceptedRequest?
        var run: [PushRow] = []
        var likeness: [String] = []
        var found = PushPage()
        var next = before
        var read = 0
        func end() {
            guard !each, run.count >= Self.alike, let first = run.first else {
                rows += run.map(\.html)
                run = []
                return
            }
            let words = first.push.facts.campaign.map { "campaign:\"\($0)\"" } ?? "\"\(first.title)\""
            let outcome =
                first.push.facts.story.invocations.first?.result.map { " outcome:\($0.outcome.rawValue)" } ?? ""
            rows.append(first.group(run, target: "/?each=1&query=" + (words + outcome).percentEncoded))
            run = []
        }
        repeat {
            let limit = min(Self.lengths.rows, Self.lengths.pushes - read)
            found = try reading { () throws(SourceError) in
                try source.search(PushSearch(query, before: next, limit: limit))
            }
            read += max(1, found.stories.count)
            newest = newest ?? found.stories.first?.request
            for story in found.stories {
                let row = PushRow(summary(shown(story)))
                let like = row.likeness
                if !row.mayJoin || like != likeness { end() }
                likeness = row.mayJoin ? like : []
                run.append(row)
                // A push that may not join others stands alone.
                if !row.mayJoin { end() }
            }
            next = found.next
        } while next != nil && !found.stories.isEmpty && rows.count + (run.isEmpty ? 0 : 1) < Self.lengths.rows
            && read < Self.lengths.pushes
        end()
        let lines = rows.map { row -> Markup in "\(row)\n" }
        return ("\(lines)", found, newest)
    }

    private func chips(_ text: String) -> Markup {
        let counts = (try? source.counts()) ?? OutcomeCounts()
        let links = Self.searches.map { search -> Markup in
            let target = search.query.isEmpty ? "/" : "/?query=" + search.query.percentEncoded
            let current: Markup = search.query == text ? " aria-current=\"true\"" : ""
            let number = search.count(counts)
            let count: Markup? = number > 0 ? " <b title=\"callbacks of the last day\">\(grouped(number))</b>" : nil
            return "<a href=\"\(target)\"\(current)>\(search.name)\(count)</a>"
        }
        return "<nav class=\"chips\" aria-label=\"Show\">\(links)</nav>"
    }

    private func emptyText(_ query: PushQuery, _ found: PushPage) -> Markup {
        guard query.isEverything else {
            let sofar: Markup = found.next == nil ? "" : " so far"
            return
                "<div id=\"empty\" class=\"card\"><p>No push matches\(sofar).</p><p><a href=\"/\">Show all pushes</a>, or see the <a href=\"/help#query\">words of a search</a>.</p></div>\n"
        }
        return """
            <div id="empty" class="card"><h2>No push has come yet</h2><p>Send one, and it is here at once:</p>
            <pre tabindex="0" role="region" aria-label="A command">pushctl inject --example notification-block</pre>
            <p>Or point your server here: <code>pushctl gateway env</code> prints the variables for firebase-admin and other clients.
            <a href="/explain">Explain</a> shows what would become of a payload without sending it.</p></div>

            """
    }

    /// The end of a search, and where it goes on.
    func rest(_ found: PushPage, path: String, _ query: String) -> Markup {
        guard let next = found.next else {
            return found.stories.isEmpty ? "" : "<p class=\"soft rest\">There are no older pushes.</p>\n"
        }
        let back: Markup? = found.lookedBackTo.map { "Searched back to \(Markup(made: HTML.time($0))). " }
        let target = "\(path)query=\(query.percentEncoded)&before=\(next)"
        return "<p class=\"rest\">\(back)<a rel=\"next\" href=\"\(target)\">Search older pushes</a></p>\n"
    }

    /// The box of a query, for a page other than the list: that one has it in its head.
    func searchForm(_ text: String, path: String) -> String {
        """
        <form role="search" class="search" method="get" action="\(path)" aria-label="Search here"><label for="query-here">Search here</label>
        <input id="query-here" name="query" type="search" value="\(markup(text))" autocomplete="off" spellcheck="false">
        <button>Search</button> \(HTML.link("/help#query", "Words"))</form>

        """
    }

    /// The words of the query language.
    static let words: String = {
        let rows = QueryWord.allCases.map { word in
            let values =
                if case .words(let words) = word.values { ": \(words.joined(separator: ", "))" } else { "" }
            return
                "<tr><th scope=\"row\"><code>\(word.rawValue):</code></th><td>\(markup(word.meaning + values))</td>"
                + "<td><a href=\"/?query=\(word.example.percentEncoded)\"><code>\(markup(word.example))</code></a></td></tr>"
        }
        return """
            <div class="wide" role="region" tabindex="0" aria-label="Words of a query"><table class="text"><caption>Words of a query</caption>
            <thead><tr><th scope="col">Word</th><th scope="col">Meaning</th><th scope="col">Example</th></tr></thead>
            <tbody>\(rows.joined(separator: "\n"))</tbody></table></div>
            <p>All terms must hold. A comma between values means either. A minus before a term turns it around. Anything else is
            free text; quotation marks keep words together. <code>*</code>, <code>?</code> and <code>[a-z]</code> match as in a shell.
            Times are those of UTC.</p>

            """
    }()
}
