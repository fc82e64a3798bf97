import Glibc
import LedgerReports
import LinuxSystem
import PushModel
import PushRouter
import PushSettings
import PushViews
import Store

extension Session {
    /// How long an answer waits beyond the grace, for a daemon that is busy.
    private static let patience: Duration = .seconds(10)
    /// How often it looks.
    private static let interval: useconds_t = 200_000

    /// Waits until the tracker has decided what a session's start or end counts for, and prints it.
    func printAnswer(to seq: SequenceNumber, _ arguments: Arguments) throws(Failure) {
        let rules = settingsOfReport().routing.tracking
        let end = Instant.now + rules.grace + Self.patience
        var isDecided = false
        while true {
            isDecided = try reading { ledger throws(StoreError) in
                let last = try ledger.highestSequenceNumber()
                let waits = try ledger.pendingStarts().contains { $0.cause == seq }
                return last >= seq && !waits
            }
            guard !isDecided, Instant.now < end else { break }
            usleep(Self.interval)
        }
        let (source, table) = try pushSource()
        var answer = SessionAnswer(try story(of: seq))
        answer.isDecided = isDecided
        try reading { ledger throws(StoreError) in
            try ledger.sessions { answer.add($0) }
            try ledger.unfinishedEntries { answer.waiting.add($0) }
        }
        if let text = answer.candidates, isDecided {
            do {
                let query = try PushQuery(text, now: LocalTime.now)
                let search = PushSearch(query, before: seq, limit: SessionAnswer.pushesMax, patience: .seconds(1))
                for found in try source.search(search).stories {
                    guard case .story(let story) = try source.story(of: found.request.seq) else { continue }
                    answer.add(PushFacts(story, table: table(story)), rules)
                }
            } catch {
                output.note("the pushes of the device are not shown: \(error)")
            }
        }
        if arguments.has(.json) {
            output.write(line: answer.json)
        } else {
            output.print(answer.text(in: arguments.zone))
        }
    }
}
