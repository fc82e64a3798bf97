import EventLoop
import LinuxSystem
import PushModel
import PushReporting

/// Answers `op: metrics`. The loop says what there is; a thread of its own makes the text of it, which with many handlers
/// takes longer than a turn of the loop may. It begins with the first question.
final class MetricsService {
    private struct Job: Sendable {
        var token: UInt64
        var status: Status
        var format: MetricsFormat
        var id: String?
    }

    /// How many may wait for an answer; each holds some tens of kilobytes.
    private static let waitingMax = 8

    private let thread: JobThread<Job>
    private var waiting: [UInt64: ControlClient] = [:]
    private var nextToken: UInt64 = 0

    /// - Parameter onAnswer: gets each reply with its token, on another thread.
    init(onAnswer: @escaping @Sendable (_ token: UInt64, _ line: [UInt8]) -> Void) {
        thread = JobThread("metrics") { { job in onAnswer(job.token, Self.reply(to: job)) } }
    }

    /// Has the metrics written for a client, who is answered when they are.
    ///
    /// - Throws: that too many wait for theirs, or that the system has no thread left.
    func write(_ status: Status, _ format: MetricsFormat, for client: ControlClient) throws(ProtocolError) {
        guard waiting.count < Self.waitingMax else {
            throw ProtocolError(
                .overloaded, message: "\(Self.waitingMax) others wait for metrics, the most that is allowed",
                retryAfter: .milliseconds(100), id: client.id)
        }
        nextToken += 1
        do throws(SystemError) {
            try thread.submit(Job(token: nextToken, status: status, format: format, id: client.id))
        } catch {
            throw ProtocolError(.overloaded, message: "\(error)", retryAfter: .seconds(1), id: client.id)
        }
        waiting[nextToken] = client
    }

    /// An answer was written.
    func wasWritten(_ token: UInt64, _ line: [UInt8]) { waiting.removeValue(forKey: token)?.reply(line) }

    /// Ends the thread.
    func stop() { thread.stop() }

    private static func reply(to job: Job) -> [UInt8] {
        Reply.metrics(job.status.withFigures, job.format, id: job.id)
    }
}

extension Reply {
    /// The metrics of a status.
    static func metrics(_ status: StatusValue, _ format: MetricsFormat, id: String?) -> [UInt8] {
        done(id: id) { reply in
            reply.member("content_type", format.contentType)
            reply.member("metrics", OpenMetrics.text(of: status, as: format))
        }
    }
}
