import LinuxSystem
import PushModel
import PushViews

/// Answers `op: metrics`. The loop takes the figures; the thread `metrics` formats them, which takes longer than a turn
/// of the loop may if there are many handlers. The thread begins with the first request.
final class MetricsService {
    private struct Job: Sendable {
        var token: UInt64
        var status: Status
        var format: MetricsFormat
        var id: String?
    }

    /// How many requests may wait for their text; each holds some tens of kilobytes.
    private static let waitingMax = 8

    private let thread: JobThread<Job>
    private var waiting: [UInt64: ControlClient] = [:]
    private var nextToken: UInt64 = 0

    /// - Parameter onAnswer: gets each reply with its token, on the thread `metrics`.
    init(onAnswer: @escaping @Sendable (_ token: UInt64, _ line: [UInt8]) -> Void) {
        thread = JobThread("metrics") { { job in onAnswer(job.token, Self.reply(to: job)) } }
    }

    /// Formats the metrics on the thread, and then replies.
    ///
    /// - Throws: when too many requests wait, or when the system can start no thread.
    func write(_ status: Status, _ format: MetricsFormat, for client: ControlClient) throws(ProtocolError) {
        guard waiting.count < Self.waitingMax else {
            throw ProtocolError(
                .overloaded, message: "\(Self.waitingMax) others wait for metrics, the limit",
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

    /// Sends a reply that the thread formatted.
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
