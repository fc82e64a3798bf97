import LinuxSystem
import PushModel
import PushRouting

/// Reads large requests on a thread of its own: to scan a quarter of a megabyte takes longer than a turn of the loop may.
final class LargeRequestReader: Sendable {
    /// A line of at least so many bytes is large.
    static let threshold = 16 << 10

    private struct Job: Sendable {
        var token: UInt64
        var line: [UInt8]
        var limits: JSONLimits
    }

    private let thread: JobThread<Job>

    /// - Parameter onAnswer: gets each request that was read, or why it is none, with its token, on another thread.
    init(onAnswer: @escaping @Sendable (_ token: UInt64, Result<Request, ProtocolError>) -> Void) {
        thread = JobThread("large requests") {
            { job in
                onAnswer(
                    job.token,
                    Result { () throws(ProtocolError) in try Request(line: job.line, limits: job.limits) })
            }
        }
    }

    /// Has a line read.
    ///
    /// - Throws: when the system has no thread left.
    func submit(_ line: [UInt8], limits: JSONLimits, token: UInt64) throws(SystemError) {
        try thread.submit(Job(token: token, line: line, limits: limits))
    }

    /// Ends the thread.
    func stop() { thread.stop() }
}
