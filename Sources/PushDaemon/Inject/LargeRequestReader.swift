import LinuxSystem
import PushModel
import PushRouter

/// Parses large requests on its own thread: to scan a quarter of a megabyte takes longer than a turn of the loop may.
final class LargeRequestReader {
    typealias Result = Swift.Result<Request, ProtocolError>

    /// A line of at least this many bytes is large.
    static let threshold = 16 << 10

    private struct Job: Sendable {
        var token: UInt64
        var line: [UInt8]
        var limits: JSONLimits
    }

    private let thread: JobThread<Job>
    private var lastToken: UInt64 = 0
    private var completions: [UInt64: (Result) -> Void] = [:]

    /// - Parameter onAnswer: gets each result with its token, on the thread; the caller passes it to ``didRead(_:_:)``
    ///   on the loop's thread.
    init(onAnswer: @escaping @Sendable (_ token: UInt64, Result) -> Void) {
        thread = JobThread("large requests") {
            { job in
                onAnswer(
                    job.token, Result { () throws(ProtocolError) in try Request(line: job.line, limits: job.limits) })
            }
        }
    }

    /// Parses a line on the thread.
    ///
    /// - Parameter take: gets the result in a later turn.
    /// - Throws: when the system can start no thread.
    func read(_ line: [UInt8], limits: JSONLimits, _ take: @escaping (Result) -> Void) throws(SystemError) {
        lastToken += 1
        try thread.submit(Job(token: lastToken, line: line, limits: limits))
        completions[lastToken] = take
    }

    /// Passes on a result of the thread.
    func didRead(_ token: UInt64, _ result: Result) { completions.removeValue(forKey: token)?(result) }

    /// Ends the thread, and drops the closures that wait for results.
    func stop() {
        thread.stop()
        completions = [:]
    }
}
