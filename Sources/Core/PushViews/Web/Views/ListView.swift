import PushModel

extension WebDesk {
    /// How many pushes a page has.
    private static let pageLength = 50

    /// The list of pushes.
    func list(_ request: WebRequest) throws(WebProblem) -> WebAnswer {
        let text = request.query["query"] ?? ""
        let query: PushQuery
        do throws(QueryError) { query = try PushQuery(text, now: now()) } catch {
            let problem = "<p class=\"problem\" role=\"alert\">\(markup("\(error)")).</p>\n"
            return .response(
                page(request, title: "Pushes", searchForm(text) + problem + Self.words, status: 400))
        }
        let before = try number("before", of: request)
        let (position, found) = try reading { () throws(SourceError) in
            (try source.position(), try source.search(PushSearch(query, before: before, limit: Self.pageLength)))
        }
        let stories = found.stories.map(shown)
        let attributes =
            before == nil
            ? " data-position=\"\(position)\" data-query=\"\(markup(query.text))\"" : ""
        let caption = query.isEverything ? "The newest pushes" : "Pushes that match"
        var content = searchForm(query.text)
        content += "<p class=\"live\"><button type=\"button\" id=\"new\" hidden aria-live=\"polite\"></button></p>\n"
        content += PushRow.table(stories, id: "pushes", caption: caption, attributes: attributes)
        if stories.isEmpty { content += "<p id=\"empty\">\(emptyText(query, found))</p>\n" }
        content += rest(found, path: "/", query.text)
        return .response(page(request, title: "Pushes", content, live: before == nil))
    }

    private func emptyText(_ query: PushQuery, _ found: PushPage) -> String {
        if !query.isEverything { return "No push matches\(found.next == nil ? "" : " so far")." }
        return "No push has come yet. \(HTML.link("/help", "Help")) says how to send one."
    }

    /// How far a search looked, and where it goes on.
    func rest(_ found: PushPage, path: String, _ query: String) -> String {
        guard let next = found.next else {
            return found.stories.isEmpty ? "" : "<p class=\"soft\">There are no older pushes.</p>\n"
        }
        let back = found.lookedBackTo.map { "Searched back to \(HTML.time($0)). " } ?? ""
        let target = "\(path)?query=\(WebParameters.encoded(query))&before=\(next)"
        return "<p>\(back)<a rel=\"next\" href=\"\(markup(target))\">Search older pushes</a></p>\n"
    }

    /// The box of a query.
    func searchForm(_ text: String, path: String = "/") -> String {
        """
        <form role="search" class="search" method="get" action="\(path)"><label for="query">Search</label>
        <input id="query" name="query" type="search" value="\(markup(text))" placeholder="outcome:timed_out app:com.example.* -is:replay" autocomplete="off" spellcheck="false">
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
                + "<td><a href=\"/?query=\(WebParameters.encoded(word.example))\"><code>\(markup(word.example))</code></a></td></tr>"
        }
        return """
            <div class="wide" role="region" tabindex="0" aria-label="Words of a query"><table><caption>Words of a query</caption>
            <thead><tr><th scope="col">Word</th><th scope="col">Meaning</th><th scope="col">Example</th></tr></thead>
            <tbody>\(rows.joined(separator: "\n"))</tbody></table></div>
            <p>All terms must hold. A comma between values means either. A minus before a term turns it around. Anything else is
            free text; quotation marks keep words together. <code>*</code>, <code>?</code> and <code>[a-z]</code> match as in a shell.
            Times are those of UTC.</p>

            """
    }()
}
