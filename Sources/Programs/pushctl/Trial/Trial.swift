import HandlerProcess
import HandlerRuns
import PushModel
import PushRouting

/// One payload that was given to a handler, and what came of it.
struct Trial {
    /// One run of the handler; there are several where it asks to be tried again.
    struct Attempt {
        /// Which run it is, from 1.
        let number: Int
        /// The object on standard input, or the line.
        var input: [UInt8] = []
        /// What an `exec` handler wrote to standard output, as far as the daemon reads it.
        var output: [UInt8] = []
        /// What it wrote beyond that.
        var discarded = 0
        /// The lines of a handler that answers by lines.
        var lines = Tail()
        /// What the program wrote to standard error.
        var errors = Tail()
        /// The answer; `nil` when there was none in time.
        var answer: HandlerAnswer?
        /// The line that was the answer.
        var answerLine: [UInt8]?
        /// How its program ended by itself; `nil` when it did not.
        var end: HandlerProcess.ExitStatus?
        /// Whether it was told that its time is nearly up.
        var wasWarned = false
        /// Whether it was ended at its deadline.
        var wasStopped = false
        /// When it began, and when it answered or was ended.
        var began: Instant?
        var ended: Instant?

        /// How long it took; `nil` when it never began.
        var duration: Duration? {
            guard let began, let ended else { return nil }
            return ended - began
        }

        init(number: Int) { self.number = number }
    }

    /// How many runs are kept: the first, and the latest. A handler may ask to be tried again every millisecond.
    static let attemptsMax = 20
    /// How many notes are kept, the first ones.
    private static let notesMax = 100

    /// Where the payload is from.
    let place: String
    let handler: Handler
    let plan: TrialPlan
    var attempts: [Attempt] = []
    /// What the daemon would write to the journal.
    private(set) var notes: [String] = []
    /// What it came to.
    var end: InvocationEnd?

    /// Whether the handler did its work.
    var isHandled: Bool { end?.result.outcome == .handled }

    init(place: String, handler: Handler, plan: TrialPlan) {
        self.place = place
        self.handler = handler
        self.plan = plan
    }

    /// A run begins.
    mutating func begin() {
        let number = (attempts.last?.number ?? 0) + 1
        if attempts.count == Self.attemptsMax { attempts.remove(at: 1) }
        attempts.append(Attempt(number: number))
    }

    /// Takes in what the daemon would write to the journal.
    mutating func note(_ text: String) { if notes.count < Self.notesMax { notes.append(text) } }

    /// Takes in what is seen of the latest run.
    mutating func take(_ observation: RunObservation) {
        guard !attempts.isEmpty else { return }
        let last = attempts.count - 1
        switch observation {
        // A line that is given again goes to another instance: what counts is the same.
        case .given(let input): attempts[last].input = input
        case .line(let line):
            attempts[last].lines.append(line + [UInt8(ascii: "\n")])
            attempts[last].answerLine = line
        case .output(let output, let discarded): (attempts[last].output, attempts[last].discarded) = (output, discarded)
        case .errors(let bytes): attempts[last].errors.append(bytes)
        case .ended(let end): attempts[last].end = end
        }
    }
}

/// The end of what was written, and how much that was: what is shown is bounded, whatever a program writes.
struct Tail {
    /// How many bytes are kept.
    static let limit = 4 << 10

    /// The last bytes.
    private(set) var bytes: [UInt8] = []
    /// How many there were.
    private(set) var count = 0

    init() {}

    /// - Parameters:
    ///   - bytes: what was written.
    ///   - more: how many bytes were written after them, and are not known.
    init(_ bytes: [UInt8], more: Int = 0) {
        append(bytes)
        count += more
    }

    /// Adds what was written next.
    mutating func append(_ more: [UInt8]) {
        count += more.count
        bytes += more.suffix(Self.limit)
        if bytes.count > Self.limit { bytes.removeFirst(bytes.count - Self.limit) }
    }
}
