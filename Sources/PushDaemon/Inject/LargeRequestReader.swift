import LinuxSystem
import PushModel
import PushRouting

/// Reads large requests on a thread of its own: to scan a quarter of a megabyte takes longer than a turn of the loop may.
final class LargeRequestReader {
    typealias Result = Swift.Result<Request, ProtocolError>

    /// A line of at least so many bytes is large.
    static let threshold = 16 << 10

    private struct Job: Sendable {
        var token: UInt64
        var line: [UInt8]
        var limits: JSONLimits
    }

    private let thread: JobThread<Job>
    private var lastToken: UInt64 = 0
    private var takers: [UInt64: (Result) -> Void] = [:]

    /// - Parameter onAnswer: gets each request that was read, or why it is none, with its token, on another thread;
    ///   ``wasRead(_:_:)`` is to get them on the loop's.
    init(onAnswer: @escaping @Sendable (_ token: UInt64, Result) -> Void) {
        thread = JobThread("large requests") {
            { job in
                onAnswer(
                    job.token, Result { () throws(ProtocolError) in try Request(line: job.line, limits: job.limits) })
            }
        }
    }

    /// Has a line read.
    ///
    /// - Parameter take: gets the request, or why it is none, in a later turn.
    /// - Throws: when the system has no thread left.
    func read(_ line: [UInt8], limits: JSONLimits, _ take: @escaping (Result) -> Void) throws(SystemError) {
        lastToken += 1
        try thread.submit(Job(token: lastToken, line: line, limits: limits))
        takers[lastToken] = take
    }

    /// A line was read.
    func wasRead(_ token: UInt64, _ result: Result) { takers.removeValue(forKey: token)?(result) }

    /// Ends the thread, and forgets who asked.
    func stop() {
        thread.stop()
        takers = [:]
    }
}
