import Glibc
import HTTPServer
import LinuxSystem
import PushModel
import PushViews

/// A question of a client: two that are alike get one answer.
struct PageRequest: Hashable, Sendable {
    /// The method, unchanged: `GET`.
    var method: String
    /// The path, without the query: `/metrics`.
    var path: String
    /// The format that the client prefers.
    var format = MetricsFormat.prometheus
}

/// The pages of the HTTP server, by their paths.
struct Pages: Sendable {
    /// Gets the daemon's metrics as text.
    var metrics: @Sendable (MetricsFormat) throws(DaemonError) -> String
    /// Adds the metrics of other programs to the daemon's.
    var others: @Sendable (String, MetricsFormat) -> String = { text, _ in text }
    /// Tells why the daemon accepts no requests; `nil`: it does.
    var problem: @Sendable () throws(DaemonError) -> String?
    /// Tells why requests must go elsewhere: another machine leads, or the daemon stops; `nil`: this machine takes
    /// them.
    var follows: @Sendable () throws(DaemonError) -> String?
    /// Called with the reason why there are no metrics, each time; `nil`: there are.
    var note: @Sendable (String?) -> Void = { _ in }

    private static let overview = "see \(paths.keys.filter { $0 != "/" }.sorted().joined(separator: ", "))"

    private static let paths: [String: @Sendable (Pages, PageRequest) -> HTTPResponse] = [
        "/": { _, _ in HTTPResponse(status: 200, text: "pushrouter-metrics: \(overview)\n") },
        "/metrics": { $0.metrics(for: $1) },
        "/healthz": { pages, _ in Self.verdict(pages.problem) },
        "/leader": { pages, _ in Self.verdict(pages.follows) },
    ]

    /// Answers a request.
    func answer(_ request: PageRequest) -> HTTPResponse {
        guard let page = Self.paths[request.path] else {
            return HTTPResponse(status: 404, text: "there is no such page; \(Self.overview)\n")
        }
        guard ["GET", "HEAD"].contains(request.method) else {
            return HTTPResponse(status: 405, text: "only GET and HEAD\n", headers: [("Allow", "GET, HEAD")])
        }
        return page(self, request)
    }

    private func metrics(for request: PageRequest) -> HTTPResponse {
        let text: String
        do {
            text = try metrics(request.format)
            note(nil)
        } catch {
            text = OpenMetrics.textOfNoAnswer(as: request.format)
            note("\(error)")
        }
        return HTTPResponse(
            status: 200, text: others(text, request.format), type: request.format.contentType,
            headers: [("Cache-Control", "no-store"), ("Vary", "Accept")])
    }

    /// 200 without a problem, otherwise 503 with the problem.
    private static func verdict(_ problem: () throws(DaemonError) -> String?) -> HTTPResponse {
        let headers = [(name: "Cache-Control", value: "no-store")]
        do {
            guard let problem = try problem() else { return HTTPResponse(status: 200, text: "ok\n", headers: headers) }
            return HTTPResponse(status: 503, text: "\(problem)\n", headers: headers)
        } catch {
            return HTTPResponse(status: 503, text: "\(error)\n", headers: headers)
        }
    }
}

/// A file that is replaced by rename(2), so that its readers get either the old text or the new one.
struct TextFile {
    /// The path of the file.
    var path: String

    /// Writes the file, without a sync: after a crash the next write comes soon.
    ///
    /// - Throws: the error of a system call.
    func replace(with text: String) throws(SystemError) {
        // The temporary name does not end in .prom, so that no collector reads the file.
        let temporary = "\(path).\(getpid())~"
        let flags = O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW
        guard let file = FileDescriptor(open(temporary, flags, 0o644)) else { throw failure("write", temporary) }
        var bytes = Array(text.utf8)[...]
        while !bytes.isEmpty {
            let count = bytes.withUnsafeBytes { bytes in
                retryingInterrupts { write(file.rawValue, bytes.baseAddress, bytes.count) }
            }
            guard count > 0 else {
                let error = failure("write", temporary)
                unlink(temporary)
                throw error
            }
            bytes = bytes.dropFirst(count)
        }
        // Sets the mode despite the umask: any user may read the file.
        fchmod(file.rawValue, 0o644)
        guard rename(temporary, path) == 0 else {
            let error = failure("replace", path)
            unlink(temporary)
            throw error
        }
    }

    private func failure(_ step: String, _ path: String) -> SystemError {
        SystemError(operation: "\(step) \(path)", errno: errno)
    }
}
