import LedgerReports
import LinuxSystem
import PushModel
import PushRouter
import PushSettings
import PushViews
import Store

extension Session {
    /// The form of a list of pushes.
    enum ListFormat: String, CaseIterable {
        case text, json, csv
    }

    /// As many pushes as a search looks for at once: a slow reader of the output must not keep a transaction open.
    private static let foundAtOnce = 200

    /// Prints the pushes that match a query, the newest first.
    func list(_ arguments: Arguments) throws(Failure) -> ExitStatus {
        let query = try arguments.queryInWindow()
        let given = arguments.word(.format, ListFormat.self)
        if arguments.has(.json), let given, given != .json {
            throw arguments.usageFailure("--json and --format \(given.rawValue) exclude each other")
        }
        let format = given ?? (arguments.has(.json) ? .json : .text)
        let most = try Command.limit(arguments) ?? (format == .text ? 100 : .max)
        let (source, tables) = try pushSource()
        if format == .csv { output.write(PushListing.csvHeader.utf8) }
        var (shown, next): (Int, SequenceNumber?) = (0, nil)
        var rows: [PushSummary] = []
        let names = try campaignNames(arguments).names
        repeat {
            let limit = min(Self.foundAtOnce, most - shown)
            let page: PushPage
            do throws(SourceError) {
                page = try source.search(PushSearch(query, before: next, limit: limit, patience: .seconds(1)))
            } catch {
                throw Failure(.inputOutput, error.description)
            }
            for story in page.stories {
                let facts = PushFacts(story.showingTokens(arguments), table: tables(story))
                facts.names = names
                let push = PushSummary(facts)
                switch format {
                case .text: rows.append(push)
                case .json: output.write(line: push.json)
                case .csv: output.write(PushListing.csv(push).utf8)
                }
            }
            shown += page.stories.count
            next = page.next
        } while next != nil && shown < most
        output.print(
            PushListing.lines(rows, in: arguments.zone, TextStyle(width: output.width, usesUnicode: output.usesUnicode))
        )
        guard shown > 0 else { throw Failure(.no, "no push matches") }
        if format == .text, next != nil { output.note("there may be more; --limit sets the number shown") }
        return .done
    }

    /// The ledger as a source of pushes, and the configuration that decided each.
    func pushSource() throws(Failure) -> (source: LedgerSource, table: (RequestStory) -> RoutingTable) {
        let settings = settingsOfReport()
        let source = LedgerSource(
            directory: directories.state, table: settings.routing, campaignIDRule: settings.campaignIDRule,
            opened: try ledger(), clock: { Moment.now() })
        var known: [ConfigurationID: RoutingTable] = [:]
        let table = { (story: RequestStory) -> RoutingTable in
            guard let id = story.configuration?.period.id else { return settings.routing }
            if let table = known[id] { return table }
            let table = self.settings(of: id)?.routing ?? settings.routing
            known[id] = table
            return table
        }
        source.detection = { table($0).detection }
        return (source, table)
    }
}

extension Arguments {
    /// The query of a list, within the times of `--since` and `--until`.
    fileprivate func queryInWindow() throws(Failure) -> PushQuery {
        let window = try window()
        let times = [window.since.map { "after:\($0.rfc3339)" }, window.until.map { "before:\($0.rfc3339)" }]
        let text = ([self[.query] ?? ""] + times.compactMap(\.self)).joined(separator: " ")
        do throws(QueryError) { return try PushQuery(text, now: LocalTime.now) } catch {
            throw usageFailure("--query: \(error)")
        }
    }
}
