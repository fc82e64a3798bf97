import PushModel

/// The numbers on the saved searches, for a moment: each list asks for them.
final class SearchCounts {
    fileprivate var texts: [String: String] = [:]
    fileprivate var at = WallTime(milliseconds: 0)
}

extension WebDesk {
    /// The number of rows of a page, and of the pushes that it reads for them: pushes alike take one row.
    private static let lengths = (rows: 50, pushes: 300)
    /// The number of pushes alike from which on they take one row.
    private static let alike = 3
    /// How many matches of a saved search are counted, how long they are looked for, and how long the number is kept.
    private static let counting = (limit: 50, patience: Duration.milliseconds(5), milliseconds: Int64(2000))

    /// The searches that a person wants most, as links: name, query, and whether it has a number.
    private static let searches: [(name: String, query: String, isCounted: Bool)] = [
        ("All", "", false), ("Problems", "is:problem", true),
        ("Refused sends", "code:refused_send", true), ("Running", "is:pending", true), ("Opened", "is:opened", false),
        ("Not shown", "outcome:\(hidden) -code:refused_send", true),
    ]

    private static let hidden = Outcome.allCases.filter(\.isHidden).map(\.rawValue).joined(separator: ",")

    /// The list of pushes, and beside it on a wide screen the one that is chosen.
    func list(_ request: WebRequest) throws(WebProblem) -> WebAnswer {
        let text = request.query["query"] ?? ""
        let query: PushQuery
        do throws(WebProblem) { query = try self.query(text) } catch {
            return .response(
                page(request, title: "Pushes", HTML.problem(error.message) + Self.words, status: 400))
        }
        let isFirst = request.query["before"] == nil
        let position = try reading { () throws(SourceError) in try source.position() }
        let each = request.query["each"] == "1"
        let found = try rows(request, query)
        let live: Markup =
            isFirst ? " data-position=\"\(position.description)\" data-query=\"\(query.text)\"" : ""
        let choose: Markup = "<p class=\"soft\">Choose a push: it is shown here.</p>"
        // The push beside the list is what the page is about.
        let heading = found.beside == nil ? "h1" : "h2"
        let content: Markup = """
            <div class="panes">
            <section class="list" aria-labelledby="list-h"><\(heading) class="sr" id="list-h">Pushes, the newest first</\(heading)>
            <div class="head">\(chips(query.text))<small>Times are of UTC</small></div>
            <button type="button" id="new" hidden aria-live="polite"></button>
            <ol id="pushes"\(live)>
            \(found.rows)</ol>
            \(Markup.when(found.isEmpty, emptyText(query, found.page)))\(rest(found.page, path: each ? "/?each=1&" : "/?", query.text))
            <p class="keys"><kbd>/</kbd> search <kbd>j</kbd> <kbd>k</kbd> next, previous <kbd>Enter</kbd> read it <kbd>Esc</kbd> back <kbd>?</kbd> help</p>
            </section>
            <aside class="pane" id="pane" aria-label="The chosen push">\(found.beside ?? choose)</aside>
            </div>

            """
        return .response(page(request, title: "Pushes", content, hasHeading: true, live: isFirst))
    }

    /// The longest request that stands beside the list unasked: a page with a list has at most 60 KiB.
    private static let paneMax = 4 << 10

    private struct FoundRows {
        var rows: [Markup] = []
        var page = PushPage()
        var isEmpty = true
        /// The push beside the list: the chosen one, else the newest.
        var beside: Markup?
    }

    /// The rows of a page: the pushes that match, those alike in one row.
    private func rows(_ request: WebRequest, _ query: PushQuery) throws(WebProblem) -> FoundRows {
        var found = FoundRows()
        var chosen = try number("push", of: request)
        let isAsked = chosen != nil
        let each = request.query["each"] == "1"
        func show(_ story: RequestStory) {
            chosen = story.request.seq
            found.beside = PushView(story, desk: self, origin: origin(of: request)).article
        }
        if let chosen, case .story(let story)? = try? source.story(of: chosen) { show(story) }
        var run: [PushRow] = []
        func end() {
            if !each, run.count >= Self.alike, let first = run.first {
                // The row opens those that it counts; a page has so few that a query has room for their numbers.
                let numbers = run.map(\.push.facts.story.request.seq)
                let query = "id:" + numbers.map(\.description).joined(separator: ",")
                let before = (numbers.first?.value ?? 0) + 1
                found.rows.append(
                    first.group(run, target: "/?each=1&before=\(before)&query=" + query.percentEncoded))
            } else {
                found.rows += run.map { $0.html(isChosen: $0.push.facts.story.request.seq == chosen) }
            }
            run = []
        }
        var likeness: [String] = []
        var next = try number("before", of: request)
        var read = 0
        repeat {
            let limit = min(Self.lengths.rows, Self.lengths.pushes - read)
            found.page = try search(PushSearch(query, before: next, limit: limit))
            read += max(1, found.page.stories.count)
            for story in found.page.stories {
                if found.isEmpty, !isAsked, story.request.operation == .deliver,
                    story.request.body.count <= Self.paneMax
                {
                    // The search leaves out who sent it.
                    if case .story(let whole)? = try? source.story(of: story.request.seq) { show(whole) }
                }
                found.isEmpty = false
                let row = PushRow(summary(shown(story)))
                let like = row.mayJoin ? row.likeness : []
                // A push that may not join others stands alone.
                if like.isEmpty || like != likeness { end() }
                likeness = like
                run.append(row)
            }
            next = found.page.next
        } while next != nil && !found.page.stories.isEmpty
            && found.rows.count + (run.isEmpty ? 0 : 1) < Self.lengths.rows && read < Self.lengths.pushes
        end()
        return found
    }

    /// Whether the numbers on the saved searches are to be counted again.
    var countsAreOld: Bool { abs(now().milliseconds - counts.at.milliseconds) >= Self.counting.milliseconds }

    /// The saved searches with their numbers.
    ///
    /// - Parameter text: the query that is shown.
    func chips(_ text: String) -> Markup {
        if countsAreOld {
            (counts.at, counts.texts) = (now(), [:])
            for saved in Self.searches where saved.isCounted {
                guard let query = try? query(saved.query),
                    let found = try? search(
                        PushSearch(query, limit: Self.counting.limit, patience: Self.counting.patience)),
                    !found.stories.isEmpty
                else { continue }
                counts.texts[saved.name] = "\(found.stories.count)\(found.next == nil ? "" : "+")"
            }
        }
        let links = Self.searches.map { saved -> Markup in
            let target = saved.query.isEmpty ? "/" : "/?query=" + saved.query.percentEncoded
            let count: Markup? = counts.texts[saved.name].map { " <b>\($0)</b>" }
            return
                "<a href=\"\(target)\"\(Markup.when(saved.query == text, " aria-current=\"true\""))>\(saved.name)\(count)</a>"
        }
        return "<nav class=\"chips\" aria-label=\"Show\">\(links)</nav>"
    }

    private func emptyText(_ query: PushQuery, _ found: PushPage) -> Markup {
        guard query.isEverything else {
            return """
                <div id="empty" class="card"><p>No push matches\(found.next == nil ? "" : " so far").</p>\
                <p><a href="/">Show all pushes</a>, or see the <a href="/help#query">words of a search</a>.</p></div>

                """
        }
        return """
            <div id="empty" class="card"><h2>No push has come yet</h2><p>Send one, and it is here at once:</p>
            \(HTML.command("pushctl inject --example notification-block"))
            <p>Or point your server here: <code>pushctl gateway env</code> prints the variables.</p></div>

            """
    }

    /// The end of a search, and where it goes on.
    func rest(_ found: PushPage, path: String, _ query: String) -> Markup {
        guard let next = found.next else {
            return found.stories.isEmpty ? "" : "<p class=\"soft rest\">There are no older pushes.</p>\n"
        }
        let back: Markup? = found.lookedBackTo.map { "Searched back to \(HTML.time($0)). " }
        let target = "\(path)query=\(query.percentEncoded)&before=\(next)"
        return "<p class=\"rest\">\(back)<a rel=\"next\" href=\"\(target)\">Search older pushes</a></p>\n"
    }

    /// The words of the query language.
    static let words =
        HTML.table(
            "Words of a query", QueryWord.allCases,
            [
                .name("Word") { "<code>\($0.rawValue):</code>" },
                .words("Meaning") { word in
                    let values =
                        if case .words(let words) = word.values { ": \(words.joined(separator: ", "))" } else { "" }
                    return "\(word.meaning + values)"
                },
                .words("Example") { "<a href=\"/?query=\($0.example.percentEncoded)\"><code>\($0.example)</code></a>" },
            ]) + """
            <p>All terms must hold. A comma between values means either. A minus before a term turns it around. Anything else is
            free text; quotation marks keep words together. <code>*</code>, <code>?</code> and <code>[a-z]</code> match as in a shell.
            Times are those of UTC.</p>

            """
}

// Other lists of pushes, and the help about the search.
extension WebDesk {
    func deadLetters(_ request: WebRequest) throws(WebProblem) -> WebAnswer {
        let text = request.query["query"] ?? ""
        let query = try query(request, beginning: "is:dead op:deliver,interact,token ")
        let before = try number("before", of: request)
        let found = try search(PushSearch(query, before: before, limit: 100, patience: .milliseconds(200)))
        let mayReplay = daemon.mayControl
        let table = HTML.table(
            "Dead letters, the newest first", found.stories.map { summary(shown($0)) },
            [
                .name("Push") {
                    let seq = $0.facts.story.request.seq
                    let box: Markup =
                        "<input type=\"checkbox\" name=\"requests\" value=\"\(seq)\" aria-label=\"Choose #\(seq)\"> "
                    return "\(Markup.when(mayReplay, box))\(HTML.push(seq, "#\(seq) \($0.title)"))"
                }, .words("Why") { "\($0.verdict.sentences.joined(separator: " "))" },
                .words("Handler") { "\($0.main?.handler ?? "-")" }, .words("Outcome") { "\($0.word)" },
                .words("Accepted") { HTML.time($0.facts.story.request.acceptedAt.wall) },
                .words("App") { "\($0.facts.story.request.app ?? "-")" },
            ])
        let none: Markup = "<p>There are none\(found.next == nil ? "" : " so far").</p>\n"
        let acts: Markup =
            mayReplay
            ? """
            <form method="post" action="/deadletters/replay">\(formToken)\(table)<p><button>Replay the chosen ones</button> \
            <button formaction="/deadletters/purge">Drop them</button></p></form>

            """ : "\(table)<p class=\"soft\">This page may not replay: act-control.conf lets it.</p>\n"
        let content: Markup = """
            <p>Callbacks that failed, timed out, expired or found no route, in relay mode. A replay runs them again. <code>?query=</code> searches them.</p>
            \(found.stories.isEmpty ? none : acts)\(rest(found, path: "/deadletters?", text))
            """
        return .response(page(request, title: "Dead letters", content))
    }

    func help(_ request: WebRequest) -> WebAnswer {
        let keys = [
            ("/", "go to the search"), ("j, k", "next, previous push"), ("Enter", "go into the push beside the list"),
            ("Esc", "back to the list"), ("?", "this help"),
        ]
        let api: Markup = """
            <p>\(HTML.link("/api/openapi.json", "The OpenAPI document")) describes each address. A POST or DELETE needs the header \
            <code>X-Pushrouter: 1</code>. An unknown parameter is an error.</p>

            """
        let send: Markup = """
            <p>By <code>pushctl inject FILE</code>, or with any client of FCM or APNs through the gateway: \
            <code>pushctl gateway env</code> prints the client's settings.</p>

            """
        let content: Markup = """
            \(HTML.section("query", "Search", Self.words))\
            \(HTML.section("keys", "Keyboard", HTML.table(
                "Keys", keys, [.name("Key") { "<kbd>\($0.0)</kbd>" }, .words("What it does") { "\($0.1)" }])))\
            \(HTML.section("api", "For programs", api))\(HTML.section("send", "Send a push", send))
            """
        return .response(page(request, title: "Help", content))
    }
}
