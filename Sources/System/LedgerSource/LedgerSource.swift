import LedgerReports
public import PushModel
public import PushQuery
public import PushReporting
public import PushRouting
import Store

/// The ledger of this machine as a source of pushes.
///
/// ``buildIndex()`` builds an index of the most searched words in memory while the program is idle.
public final class LedgerSource: PushSource {
    private let directory: String
    private let table: RoutingTable
    private let objective: Percent?
    private let campaignIDRule: CampaignIDRule
    private let clock: () -> Moment
    private var opened: LedgerReader?
    private var index = BlockIndex()
    /// The block that is being read for the index, the next request in it, and the facts so far.
    private var building: (block: Int64, next: Int64, facts: [IndexedFact])?
    private var reading: LiveReading?
    public var delay: String?

    /// The number of requests in one read.
    private static let slice: Int64 = 64
    /// The number of requests in one read for the index.
    private static let indexSlice: Int64 = 256

    /// - Parameters:
    ///   - directory: the state directory. The ledger is opened at the first question.
    ///   - table: the configuration, with the rules for the campaign of a push, and the handlers' budget.
    ///   - objective: the share of deadlines to be met, if one is configured.
    ///   - campaignIDRule: the rule that distinguishes campaigns.
    ///   - clock: returns the current time.
    public init(
        directory: String, table: RoutingTable, objective: Percent? = nil, campaignIDRule: CampaignIDRule = .raw,
        clock: @escaping () -> Moment
    ) {
        (self.directory, self.table, self.objective) = (directory, table, objective)
        (self.campaignIDRule, self.clock) = (campaignIDRule, clock)
    }

    // MARK: Search

    public func search(_ search: PushSearch) throws(SourceError) -> PushPage {
        try read { (ledger) throws(StoreError) in try find(search, in: ledger) }
    }

    private func find(_ search: PushSearch, in ledger: LedgerReader) throws(StoreError) -> PushPage {
        let end = clock().monotonic + search.patience
        let wanted = search.query.indexed
        var page = PushPage()
        var place = search.before?.value ?? .max
        while true {
            guard let last = try ledger.lastRequest(before: SequenceNumber(place)) else { return page }
            let block = BlockIndex.block(of: last)
            let first = max(block * BlockIndex.blockLength, last.value - Self.slice + 1)
            if !wanted.isEmpty, index.mayHave(block, wanted) == false {
                place = max(1, block * BlockIndex.blockLength)
                if place == 1 { return page }
                continue
            }
            let stories = try ledger.stories(in: SequenceNumber(max(1, first))...last)
            for story in stories.reversed() {
                page.lookedBackTo = story.request.acceptedAt.wall
                guard search.query.matches(PushFacts(story)) else { continue }
                page.stories.append(story)
                if page.stories.count >= search.limit {
                    page.next = story.request.seq
                    return page
                }
            }
            place = max(1, first)
            // Searches one day further back than `since`, in case the clock was set back by up to a day.
            if let since = search.query.since, let newest = stories.map(\.request.acceptedAt.wall).max(),
                newest.milliseconds < since.milliseconds - 86_400_000
            {
                return page
            }
            if clock().monotonic >= end {
                page.next = try ledger.lastRequest(before: SequenceNumber(place)) == nil ? nil : SequenceNumber(place)
                return page
            }
        }
    }

    /// Reads a part of the newest decided block without a filter.
    ///
    /// - Returns: whether there is more to do now.
    public func buildIndex() throws(SourceError) -> Bool {
        try read { (ledger) throws(StoreError) in
            if building == nil {
                guard let block = try nextBlock(ledger) else { return false }
                building = (block, block * BlockIndex.blockLength, [])
            }
            guard var work = building else { return false }
            let last = (work.block + 1) * BlockIndex.blockLength - 1
            let end = min(last, work.next + Self.indexSlice - 1)
            let range = SequenceNumber(max(1, work.next))...SequenceNumber(max(1, end))
            var shown: [SequenceNumber] = []
            let isDecided = try ledger.lookedUpTexts(in: range) { column, text in
                if let word = QueryWord(column) { work.facts.append(IndexedFact(word, text)) }
                if column == .shown, let seq = Int64(text) { shown.append(SequenceNumber(seq)) }
            }
            for seq in shown {
                for story in try ledger.stories(in: seq...seq) {
                    if let campaign = PushFacts(story).campaign { work.facts.append(IndexedFact(.campaign, campaign)) }
                }
            }
            // An undecided block would lack its later outcomes and receipts.
            guard isDecided else {
                building = nil
                return false
            }
            work.next = end + 1
            building = work
            if end == last {
                index.add(work.block, work.facts)
                building = nil
            }
            return true
        }
    }

    private func nextBlock(_ ledger: LedgerReader) throws(StoreError) -> Int64? {
        let highest = try ledger.highestSequenceNumber()
        let pending = try ledger.undecidedInvocations().map { BlockIndex.block(of: $0.seq) }
        var block = BlockIndex.block(of: highest) - 1
        let lowest = try ledger.lowestSequenceNumber().map { BlockIndex.block(of: $0) } ?? 0
        // If the index is full, a newer block replaces the oldest one.
        let oldest = index.hasRoom ? lowest : max(lowest, BlockIndex.block(of: highest) - Int64(index.count))
        while block >= oldest {
            if !index.has(block), !pending.contains(block) { return block }
            block -= 1
        }
        return nil
    }

    // MARK: One request, and what comes

    public func story(of seq: SequenceNumber) throws(SourceError) -> FoundStory {
        try read { (ledger) throws(StoreError) in
            guard var story = try ledger.story(of: seq) else {
                let last = try ledger.highestSequenceNumber()
                return seq > last ? .toCome(last: last) : .gone
            }
            story.producer = try ledger.producer(story.request.peer.uid)
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
            changes.hasMore = moved.last < highest || events.count == limit
            return (changes, moved)
        }
        position = moved
        return changes
    }

    public func changeNumber() throws(SourceError) -> Int64 {
        // No snapshot: the number does not change within a transaction.
        try read(inSnapshot: false) { (ledger) throws(StoreError) in try ledger.changeNumber() }
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
            (reading, building, index) = (nil, nil, BlockIndex())
        }
        let ledger = try LedgerReader(directory: directory)
        opened = ledger
        return ledger
    }

    /// Closes the ledger after an error, so that the next question opens it again: it may have been replaced.
    private func forget(_ error: StoreError) -> SourceError {
        (opened, reading, building) = (nil, nil, nil)
        index = BlockIndex()
        return SourceError("\(error)")
    }
}

extension QueryWord {
    /// The word that searches a column.
    fileprivate init?(_ column: LedgerReader.LookedUp) {
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
