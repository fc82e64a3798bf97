import PushModel
import PushRouter
import PushSettings
import PushViews
import Store

/// Prints the cases that the options choose.
struct ConformCases {
    /// The most different pushes, and the most requests, that are read from the ledger.
    private static let (ledgerPushesMax, ledgerRequestsMax) = (1_000, 100_000)

    private let arguments: Arguments
    private let session: Session
    /// The configuration with all providers, and with the SDKs of the app.
    private let all: Settings
    private let app: Settings
    private let providers: [String]
    private let patterns: [(text: String, glob: Glob)]
    private let platform: Platform?
    private var matched: Set<String> = []
    private var names: Set<String> = []

    init(_ arguments: Arguments, _ session: Session) throws(Failure) {
        (self.arguments, self.session) = (arguments, session)
        providers = arguments.providers ?? [ProviderRule.brazeName]
        (all, app) = (try session.settings(), try session.settings(arguments, usual: providers))
        patterns = arguments.operands.dropFirst().map { ($0, Glob($0)) }
        platform = arguments.word(.platform, Platform.self)
        if arguments.has(.unmasked), !arguments.has(.fromLedger) {
            throw arguments.usageFailure("--unmasked is for --from-ledger")
        }
    }

    mutating func print() throws(Failure) -> ExitStatus {
        session.output.write(line: try Self.heading(session, providers).line)
        for push in ConformPush.catalogue(all.routing.detection, app: app.routing.detection) { add(push, notes: false) }
        var status = ExitStatus.done
        if let operand = arguments[.payloads] { status = try addPayloads(operand) }
        if let since = arguments[.fromLedger] { try addLedger(since) }
        for (text, _) in patterns where !matched.contains(text) {
            session.output.note("no case has a name like \(text)")
            status = .no
        }
        return status
    }

    static func heading(_ session: Session, _ providers: [String]) throws(Failure) -> ConformHeading {
        let id: ConfigurationID
        do { id = try session.configurationSources().id } catch {
            throw Failure(.configuration, "\(error)")
        }
        return ConformHeading(
            model: "pushctl \(pushrouterdVersion)", configuration: "\(id)", providers: providers)
    }

    /// Prints the cases of a push.
    private mutating func add(_ push: ConformPush, notes: Bool) {
        guard platform == nil || push.platform == platform else { return }
        let found = ConformCase.all(of: push, by: app.routing) { name, reason in
            if notes { session.output.note("\(name): left out: \(reason)") }
        }
        for one in found {
            let fitting = patterns.filter { $0.glob.matches(one.name) }
            matched.formUnion(fitting.map(\.text))
            guard patterns.isEmpty || !fitting.isEmpty, names.insert(one.name).inserted else { continue }
            session.output.write(line: one.line(providers: providers))
        }
    }

    private mutating func addPayloads(_ operand: String) throws(Failure) -> ExitStatus {
        let output = session.output
        var status = ExitStatus.done
        let files = try PayloadFiles.list(operand, note: output.note)
        if files.isEmpty { throw PayloadFiles.none(in: operand) }
        let template = RequestTemplate(arguments)
        for path in files {
            let file = try InputFile(path)
            var reader = PayloadReader(pasted: file, for: template.chosenPlatform, note: output.note)
            func note(_ failure: Failure) {
                output.note(failure.message)
                status = failure.status
            }
            while true {
                let next: PayloadRecord?
                do { next = try reader.nextOrNote(note) } catch {
                    note(error)
                    break
                }
                guard let record = next else { break }
                // The next payload of the file may be right.
                do throws(Failure) {
                    try file.check(record)
                    let (_, deliver, first) = try template.delivery(
                        in: record, isAPNs: file.isAPNs, settings: all, verb: "cases", guessed: { _ in })
                    var name = Self.name(of: path, in: operand)
                    if let line = record.line { name += ":\(line)" }
                    for platform in deliver.platforms(beside: first) {
                        add(ConformPush(path: "payloads/\(name)", platform: platform, deliver: deliver), notes: true)
                    }
                } catch {
                    note(error)
                }
            }
        }
        return status
    }

    /// The path below the named directory; if the operand names the file itself, the last part of its path.
    private static func name(of path: String, in operand: String) -> String {
        let length = path == operand ? operand.lastIndex(of: "/").map { operand[...$0].count } ?? 0 : operand.count
        return String(path.dropFirst(length).drop { $0 == "/" })
    }

    /// Adds the pushes of the ledger. Of several pushes that differ only in masked parts, adds one.
    private mutating func addLedger(_ text: String) throws(Failure) {
        guard let since = LocalTime.parse(text, now: LocalTime.now, isUTC: false) else {
            throw arguments.usageFailure("--from-ledger \(text): a time is written as 2026-11-21, today or -7d")
        }
        let ledger = try session.ledger()
        var (last, read, known): (SequenceNumber, Int, Set<String>) = (SequenceNumber(0), 0, [])
        let newest = try Session.reading { () throws(StoreError) in try ledger.highestSequenceNumber() }
        while read < Self.ledgerRequestsMax, known.count < Self.ledgerPushesMax {
            let rows = try Session.reading { () throws(StoreError) in
                try ledger.rows(from: since, to: nil, after: last, through: newest, limit: 4096)
            }
            guard let end = rows.last?.seq else { return }
            for row in rows where row.seq != last {
                last = row.seq
                guard row.operation == .deliver, known.count < Self.ledgerPushesMax else { continue }
                read += 1
                let line = try Session.reading { () throws(StoreError) in try ledger.line(of: row.seq) }
                guard let line, let request = try? Request(acceptedLine: line),
                    case .deliver(let deliver) = request.action
                else { continue }
                let provider =
                    (try? decide(Delivery(deliver, platform: row.platform), settings: app.routing.detection))?
                    .provider
                var push = ConformPush(
                    path: "ledger/\(provider ?? "own")", platform: row.platform, deliver: deliver)
                if !arguments.has(.unmasked) { push = push.masked(by: app.routing) }
                push = push.namedByContent
                if known.insert(push.name).inserted { add(push, notes: true) }
            }
            last = end
        }
        session.output.note(
            "--from-ledger: ended at \(counted(known.count, "push", "pushes")) of "
                + "\(counted(read, "delivery", "deliveries")); a later time leaves out older ones")
    }
}
