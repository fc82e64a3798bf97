import Glibc
import HandlerProcess
import HandlerRuns
import LinuxSystem
import PushModel
import PushRouter
import PushSettings

/// A payload that was given to a handler, and its result.
struct Trial {
    /// One run of the handler; there are several if it asks for retries.
    struct Attempt {
        /// The number of the run, from 1.
        let number: Int
        /// The object on standard input, or the line.
        var input: [UInt8] = []
        /// The part of an `exec` handler's standard output that the daemon reads.
        var output: [UInt8] = []
        /// The number of bytes after that part.
        var discarded = 0
        /// The lines of a handler that answers by lines.
        var lines = Tail()
        /// The program's standard error.
        var errors = Tail()
        /// The answer; `nil` if there was none in time.
        var answer: HandlerAnswer?
        /// The line with the answer.
        var answerLine: [UInt8]?
        /// The exit status of its program; `nil` if the program did not end by itself.
        var end: HandlerProcess.ExitStatus?
        /// Whether SIGTERM warned it that its time is nearly over.
        var wasWarned = false
        /// Whether it was killed at its deadline.
        var wasStopped = false
        /// The times of its start, and of its answer or kill.
        var began: Instant?
        var ended: Instant?

        /// The duration; `nil` if it never began.
        var duration: Duration? {
            guard let began, let ended else { return nil }
            return ended - began
        }

        init(number: Int) { self.number = number }
    }

    /// How many runs are kept: the first and the latest ones. A handler may ask for a retry every millisecond.
    static let attemptsMax = 20
    /// How many notes are kept: the first ones.
    private static let notesMax = 100

    /// The place of the payload.
    let place: String
    let handler: Handler
    let plan: TrialPlan
    var attempts: [Attempt] = []
    /// The daemon's journal entries.
    private(set) var notes: [String] = []
    /// The end of the invocation.
    var end: InvocationEnd?

    /// Whether the outcome is `handled`.
    var isHandled: Bool { end?.result.outcome == .handled }

    init(place: String, handler: Handler, plan: TrialPlan) {
        self.place = place
        self.handler = handler
        self.plan = plan
    }

    /// Adds a run.
    mutating func begin() {
        let number = (attempts.last?.number ?? 0) + 1
        if attempts.count == Self.attemptsMax { attempts.remove(at: 1) }
        attempts.append(Attempt(number: number))
    }

    /// Adds a journal entry of the daemon.
    mutating func note(_ text: String) { if notes.count < Self.notesMax { notes.append(text) } }

    /// Adds an observation of the latest run.
    mutating func take(_ observation: RunObservation) {
        guard !attempts.isEmpty else { return }
        let last = attempts.count - 1
        switch observation {
        // A line that goes to another instance once more: the input is the same.
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

/// The last bytes of an output, and its length, so that the text is bounded.
struct Tail {
    /// How many bytes are kept.
    static let limit = 4 << 10

    /// The last bytes.
    private(set) var bytes: [UInt8] = []
    /// The length of the whole output.
    private(set) var count = 0

    init() {}

    /// - Parameters:
    ///   - bytes: the output.
    ///   - more: the number of bytes after it that were not read.
    init(_ bytes: [UInt8], more: Int = 0) {
        append(bytes)
        count += more
    }

    /// Adds output.
    mutating func append(_ more: [UInt8]) {
        count += more.count
        bytes += more.suffix(Self.limit)
        if bytes.count > Self.limit { bytes.removeFirst(bytes.count - Self.limit) }
    }
}

extension Handler {
    /// Makes a handler of `Type=exec` with the defaults from a program, without the configuration.
    ///
    /// - Parameter path: the path of the program, with a slash in it: a word without one is a handler's name.
    /// - Throws: when the program cannot be run.
    static func program(at path: String) throws(Failure) -> Handler {
        guard access(path, X_OK) == 0 else {
            let advice = errno == EACCES ? "; chmod +x makes the file executable" : ""
            throw Failure(.noInput, "\(path): \(errorText(errno))\(advice)")
        }
        let name = path.split(separator: "/").last.map(String.init) ?? path
        return Handler(name: name, kind: .exec(Command(arguments: [absolute(path)])))
    }

    /// The absolute path, because the handler has another working directory.
    private static func absolute(_ path: String) -> String {
        guard !path.hasPrefix("/"), let current = getcwd(nil, 0) else { return path }
        defer { free(current) }
        return String(cString: current) + "/" + (path.hasPrefix("./") ? String(path.dropFirst(2)) : path)
    }
}

extension Trial.Attempt {
    /// The request to an `http` handler's endpoint, without ``HTTPEndpoint/addedHeaders``; `nil` for other handlers.
    func request(to handler: Handler) -> HTTPRequest? {
        guard let endpoint = handler.kind.endpoint,
            case .post(let invocation)? = try? HTTPLine(input.dropLast(), at: began ?? Instant(nanoseconds: 0))
        else { return nil }
        return invocation.request(to: endpoint, source: HTTPInvocation.source(ofHost: HostName.current))
    }
}

extension HTTPEndpoint {
    /// The headers that `pushrouter-http` adds when it sends a request, besides HTTP's own.
    var addedHeaders: [String] {
        [HTTPInvocation.budgetHeader]
            + (secretFile == nil ? [] : ["webhook-id", "webhook-timestamp", "webhook-signature"])
            + (bearerFile == nil ? [] : ["Authorization"])
    }
}
