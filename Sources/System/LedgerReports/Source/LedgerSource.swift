public import PushModel
public import PushRouter
public import PushViews
public import Store

/// The ledger of this machine as a source of pushes.
///
/// ``buildIndex()`` builds an index of the most frequent words in memory; the program calls it while nothing else is to do.
public final class LedgerSource: PushSource {
    private let directory: String
    /// The rules for the campaign of a push, and the handlers' budget.
    public var table: RoutingTable
    /// The share of deadlines to be met, if one is configured.
    public var objective: Percent?
    /// The rule that distinguishes campaigns.
    public var campaignIDRule: CampaignIDRule
    /// The rules for the campaign of one push: those of its configuration; `nil`: those of the table.
    public var detection: ((RequestStory) -> DetectionSettings)?
    private let clock: () -> Moment
    private var opened: LedgerReader?
    private var index = BlockIndex()
    /// The change number at which no block was left to index.
    private var indexedUpTo: Int64?
    private var reading: LiveReading?
    public var delay: String?

    /// How many requests are read at once.
    private static let slice: Int64 = 64
    /// How many undecided blocks one call looks at.
    private static let triesAtOnce = 8

    /// - Parameters:
    ///   - directory: the state directory. The ledger is opened at the first question.
    ///   - table: the configuration, with the rules for the campaign of a push, and the handlers' budget.
    ///   - objective: the share of deadlines to be met, if one is configured.
    ///   - campaignIDRule: the rule that distinguishes campaigns.
    ///   - opened: the ledger, if the caller has opened it.
    ///   - clock: returns the current time.
    public init(
        directory: String, table: RoutingTable, objective: Percent? = nil, campaignIDRule: CampaignIDRule = .raw,
        opened: LedgerReader? = nil, clock: @escaping () -> Moment
    ) {
        (self.directory, self.table, self.objective) = (directory, table, objective)
        (self.campaignIDRule, self.opened, self.clock) = (campaignIDRule, opened, clock)
    }

    // MARK: Search

    public func search(_ search: PushSearch) throws(SourceError) -> PushPage {
        try read { (ledger) throws(StoreError) in
            try find(search, in: ledger)
        }
    }

    private func find(_ search: PushSearch, in ledger: LedgerReader) throws(StoreError) -> PushPage {
        let end = clock().monotonic + search.patience
        let wanted = search.query.indexed
        let floor = max(search.after?.value ?? 0, (try ledger.lowestSequenceNumber()?.value ?? .max) - 1)
        var page = PushPage()
        // The search looks at requests below this number next.
        var place = min(search.before?.value ?? .max, try ledger.highestSequenceNumber().value + 1)
        while place - 1 > floor {
            let block = BlockIndex.block(of: SequenceNumber(place - 1))
            let begin = block * BlockIndex.blockLength
            if !wanted.isEmpty, index.mayHave(block, wanted) == false {
                place = begin
                continue
            }
            guard let last = try ledger.lastRequest(before: SequenceNumber(place)), last.value > floor else { break }
            guard BlockIndex.block(of: last) == block else {
                // Pruning left no request in this block.
                place = last.value + 1
                continue
            }
            let first = max(floor + 1, wanted.isEmpty ? max(begin, last.value - Self.slice + 1) : begin)
            let range = SequenceNumber(first)...last
            for part in wanted.isEmpty ? [range] : try parts(of: range, wanted, ledger) {
                var stories = try ledger.stories(in: part)
                try ledger.addConfigurations(to: &stories)
                for story in stories.reversed() {
                    page.lookedBackTo = story.request.acceptedAt.wall
                    guard search.query.matches(PushFacts(story, detection: detection?(story) ?? table.detection)) else {
                        continue
                    }
                    page.stories.append(story)
                    if page.stories.count >= search.limit {
                        page.next = story.request.seq
                        return page
                    }
                }
            }
            place = first
            // A wall clock that was set back by less than a day hides no match.
            if let since = search.query.since, let reached = page.lookedBackTo,
                reached.milliseconds < since.milliseconds - 86_400_000
            {
                break
            }
            if place - 1 > floor, clock().monotonic >= end,
                let next = try ledger.lastRequest(before: SequenceNumber(place)), next.value > floor
            {
                page.next = SequenceNumber(place)
                page.lookedBackTo = try ledger.stories(in: next...next).first?.request.acceptedAt.wall
                break
            }
        }
        return page
    }

    /// The parts of a range that may have matches, the newest first. Only the stories of requests that have the texts of the query
    /// are read.
    private func parts(
        of range: ClosedRange<SequenceNumber>, _ wanted: [[IndexedFact]], _ ledger: LedgerReader
    ) throws(StoreError) -> [ClosedRange<SequenceNumber>] {
        var candidates: Set<SequenceNumber>?
        for facts in wanted where candidates?.isEmpty != true {
            var found: Set<SequenceNumber> = []
            for fact in facts {
                if let seq = fact.seq, range.contains(seq) { found.insert(seq) }
                guard let column = LedgerReader.SearchedColumn.allCases.first(where: { QueryWord($0) == fact.word })
                else { continue }
                found.formUnion(try ledger.requests(in: range, where: column, is: fact.value))
            }
            if facts.contains(where: { $0.word == .campaign }) {
                found.formUnion(
                    try ledger.requests(in: range, where: .shown, is: Outcome.shownBySystem.rawValue))
            }
            candidates = candidates.map(found.intersection) ?? found
        }
        var rest = Array(candidates ?? [])
        rest.sort()
        var parts: [ClosedRange<SequenceNumber>] = []
        while let last = rest.popLast() {
            var first = last
            while let next = rest.last, last.value - next.value < Self.slice { first = rest.removeLast() }
            parts.append(first...last)
        }
        return parts
    }

    /// Reads a block that has no filter yet, a new one first. Reads nothing while the ledger is unchanged since the last block
    /// got its filter.
    ///
    /// - Returns: whether another call has something to read now.
    public func buildIndex() throws(SourceError) -> Bool {
        // Within a transaction the number does not change, so it is asked for before.
        let change = try changeNumber()
        guard change != indexedUpTo else { return false }
        return try read { (ledger) throws(StoreError) in
            guard let lowest = try ledger.lowestSequenceNumber() else { return false }
            let newest = BlockIndex.block(of: try ledger.highestSequenceNumber()) - 1
            guard newest >= BlockIndex.block(of: lowest) else { return false }
            let blocks = BlockIndex.block(of: lowest)...newest
            for _ in 0..<Self.triesAtOnce {
                guard let block = index.next(in: blocks) else { break }
                let begin = block * BlockIndex.blockLength
                let range = SequenceNumber(max(1, begin))...SequenceNumber(begin + BlockIndex.blockLength - 1)
                // An undecided invocation gets its outcome, and a receipt, later.
                guard try ledger.isDecided(range) else {
                    index.postpone(block)
                    continue
                }
                index.add(block, try facts(in: range, ledger))
                return true
            }
            indexedUpTo = index.isIncomplete(in: blocks) ? nil : change
            return false
        }
    }

    private func facts(
        in range: ClosedRange<SequenceNumber>, _ ledger: LedgerReader
    ) throws(StoreError) -> [IndexedFact] {
        var facts: [IndexedFact] = []
        var shown: [SequenceNumber] = []
        try ledger.searchedTexts(in: range) { seq, column, text in
            if let word = QueryWord(column) { facts.append(IndexedFact(word, text)) } else { shown.append(seq) }
        }
        for seq in shown {
            var stories = try ledger.stories(in: seq...seq)
            try ledger.addConfigurations(to: &stories)
            for story in stories {
                if let campaign = PushFacts(story, detection: detection?(story) ?? table.detection).campaign {
                    facts.append(IndexedFact(.campaign, campaign))
                }
            }
        }
        return facts
    }

    // MARK: One request, and what comes

    public func story(of seq: SequenceNumber) throws(SourceError) -> FoundStory {
        try read { (ledger) throws(StoreError) in
            guard var story = try ledger.story(of: seq) else {
                let last = try ledger.highestSequenceNumber()
                return seq > last ? .toCome(last: last) : .gone
            }
            story.producer = try ledger.producer(story.request.peer.uid)
            story.sessionAfter = try ledger.sessionAfter(story.request)
            return .story(story)
        }
    }

    public func position() throws(SourceError) -> SourcePosition {
        try read { (ledger) throws(StoreError) in
            SourcePosition(
                last: try ledger.highestSequenceNumber(), event: try ledger.lastCursor(),
                pending: try ledger.undecidedInvocations())
        }
    }

    public func changes(since position: inout SourcePosition, limit: Int) throws(SourceError) -> SourceChanges {
        let former = position
        let (changes, moved) = try read { (ledger) throws(StoreError) in
            var changes = SourceChanges()
            var moved = former
            let highest = try ledger.highestSequenceNumber()
            let pending = try ledger.undecidedInvocations()
            // A restored ledger may have less than the position says.
            guard former.last <= highest, former.event <= (try ledger.lastCursor()) else {
                moved = SourcePosition(last: highest, event: try ledger.lastCursor(), pending: pending)
                return (changes, moved)
            }
            moved.last = min(highest, SequenceNumber(former.last.value + Int64(limit)))
            let stillPending = Set(pending)
            moved.pending = pending.filter { $0.seq <= moved.last }
            var changed = Set(former.pending.filter { !stillPending.contains($0) }.map(\.seq))
            // Opens, and other facts about a push from later requests.
            let events = try ledger.events(after: former.event, limit: limit)
            for (cursor, event) in events {
                moved.event = cursor
                if event.delivery <= former.last { changed.insert(event.delivery) }
            }
            for seq in changed.sorted() { changes.stories += try ledger.stories(in: seq...seq) }
            if moved.last > former.last {
                changes.stories += try ledger.stories(in: SequenceNumber(former.last.value + 1)...moved.last)
            }
            try ledger.addConfigurations(to: &changes.stories)
            changes.hasMore = moved.last < highest || events.count == limit
            return (changes, moved)
        }
        position = moved
        return changes
    }

    /// The configuration that decides requests now; `nil` if that is unknown.
    public func configurationInForce() -> ConfigurationID? {
        try? read(inSnapshot: false) { (ledger) throws(StoreError) in try ledger.lastConfiguration()?.id }
    }

    public func changeNumber() throws(SourceError) -> Int64 {
        // No snapshot: the number does not change within a transaction.
        try read(inSnapshot: false) { (ledger) throws(StoreError) in try ledger.changeNumber() }
    }

    public func device(_ key: DeviceKey) throws(SourceError) -> KnownDevice? {
        try read { (ledger) throws(StoreError) in try ledger.knownDevice(key) }
    }

    public func devices(limit: Int) throws(SourceError) -> [KnownDevice] {
        try read { (ledger) throws(StoreError) in try ledger.knownDevices(newest: limit) }
    }

    // MARK: Figures

    public func report(_ order: ReportOrder) throws(SourceError) -> ReportDocument {
        var figures = ReportReading(
            report: ComplianceReport(window: order.window, mode: table.mode, budget: table.budget),
            detail: ReportDetail(crossed: order.crossed))
        let now = clock().wall
        if objective != nil { figures.rates = BurnRates(end: min(order.window.until ?? now, now)) }
        try read { (ledger) throws(StoreError) in try figures.read(ledger) }
        return ReportDocument(
            report: figures.report, detail: figures.detail,
            serviceLevel: objective.map {
                ServiceLevel(objective: $0, compliance: figures.report.compliance, rates: figures.rates)
            },
            comparison: order.baseline.map {
                Comparison(figures.report, figures.detail, with: $0, file: "the baseline")
            }, zone: order.zone)
    }

    public func campaigns(_ window: ReportWindow) throws(SourceError) -> CampaignReport {
        let selection = CampaignReport.Selection(campaign: nil, field: nil, idRule: campaignIDRule)
        var report = CampaignReport(window: window, selection: selection, zone: .utc)
        try read { (ledger) throws(StoreError) in try report.read(ledger, table) }
        return report
    }

    public func live() throws(SourceError) -> LiveFigures {
        let now = clock().wall
        do throws(StoreError) {
            var live: LiveReading
            if let reading { live = reading } else { live = try LiveReading(try ledger(), at: now) }
            try live.refresh { clock().wall }
            reading = live
            return live.figures
        } catch {
            throw forget(error)
        }
    }

    // MARK: The ledger

    private func read<Value>(
        inSnapshot: Bool = true, _ body: (LedgerReader) throws(StoreError) -> Value
    ) throws(SourceError) -> Value {
        do throws(StoreError) {
            let ledger = try ledger()
            guard inSnapshot else { return try body(ledger) }
            return try ledger.snapshot { () throws(StoreError) in try body(ledger) }
        } catch {
            throw forget(error)
        }
    }

    private func ledger() throws(StoreError) -> LedgerReader {
        if let opened {
            guard opened.isReplaced else { return opened }
            (reading, indexedUpTo, index) = (nil, nil, BlockIndex())
        }
        let ledger = try LedgerReader(directory: directory)
        opened = ledger
        return ledger
    }

    /// Closes a ledger that could not be read: another one may have taken its place.
    private func forget(_ error: StoreError) -> SourceError {
        (opened, reading, indexedUpTo, index) = (nil, nil, nil, BlockIndex())
        return SourceError("\(error)")
    }
}

extension QueryWord {
    /// The word that searches a column.
    fileprivate init?(_ column: LedgerReader.SearchedColumn) {
        let word: QueryWord? =
            switch column {
            case .id: .id
            case .app: .app
            case .device: .device
            case .user: .user
            case .campaign: .campaign
            case .outcome: .outcome
            case .handler: .handler
            case .shown: nil
            }
        guard let word else { return nil }
        self = word
    }
}
