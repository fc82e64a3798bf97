import HTTPServer
import LinuxSystem
import PushModel
import PushViews

/// The pages of the HTTP server, by their paths.
struct Pages: Sendable {
    /// Gets the daemon's metrics as text.
    var metrics: @Sendable (MetricsFormat) throws(DaemonError) -> String
    /// Tells why the daemon accepts no requests; `nil`: it does.
    var problem: @Sendable () throws(DaemonError) -> String?
    /// Tells why requests must go elsewhere: another machine leads, or the daemon stops; `nil`: this machine takes
    /// them.
    var follows: @Sendable () throws(DaemonError) -> String?
    /// Called with the reason why there are no metrics, each time; `nil`: there are.
    var note: @Sendable (String?) -> Void = { _ in }

    private static let overview = "see \(paths.keys.filter { $0 != "/" }.sorted().joined(separator: ", "))"

    private static let paths: [String: @Sendable (Pages, HTTPRequest) -> HTTPResponse] = [
        "/": { _, _ in HTTPResponse(status: 200, text: "pushrouter-metrics: \(overview)\n") },
        "/metrics": { $0.metrics(for: $1) },
        "/healthz": { pages, _ in Self.verdict(pages.problem) },
        "/leader": { pages, _ in Self.verdict(pages.follows) },
    ]

    /// Answers a request.
    func answer(_ request: HTTPRequest) -> HTTPResponse {
        guard let page = Self.paths[request.path] else {
            return HTTPResponse(status: 404, text: "there is no such page; \(Self.overview)\n")
        }
        guard ["GET", "HEAD"].contains(request.method) else {
            return HTTPResponse(status: 405, text: "only GET and HEAD\n", headers: [("Allow", "GET, HEAD")])
        }
        return page(self, request)
    }

    private func metrics(for request: HTTPRequest) -> HTTPResponse {
        let format = MetricsFormat(accepting: request.headers["accept"])
        let text: String
        do {
            text = try metrics(format)
            note(nil)
        } catch {
            text = OpenMetrics.textOfNoAnswer(as: format)
            note("\(error)")
        }
        return HTTPResponse(
            status: 200, text: text, type: format.contentType,
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
