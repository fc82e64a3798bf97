import DaemonClient
import HTTPServer
import PushModel
import PushReporting

/// What is served: who asks for which path gets what.
struct Pages: Sendable {
    /// Says how the daemon's metrics are.
    var metrics: @Sendable (MetricsFormat) throws(DaemonError) -> String
    /// Says why the daemon takes no requests; `nil`: it does.
    var problem: @Sendable () throws(DaemonError) -> String?
    /// Takes why there are no metrics, each time; `nil`: there are.
    var note: @Sendable (String?) -> Void = { _ in }

    private static let paths: [String: @Sendable (Pages, HTTPRequest) -> HTTPResponse] = [
        "/": { _, _ in HTTPResponse(status: 200, text: "pushrouter-metrics: see /metrics and /healthz\n") },
        "/metrics": { $0.metrics(for: $1) },
        "/healthz": { pages, _ in pages.health() },
    ]

    /// Answers a request.
    func answer(_ request: HTTPRequest) -> HTTPResponse {
        guard let page = Self.paths[request.path] else {
            return HTTPResponse(status: 404, text: "there is no such page; see /metrics and /healthz\n")
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

    private func health() -> HTTPResponse {
        let headers = [(name: "Cache-Control", value: "no-store")]
        do {
            guard let problem = try problem() else { return HTTPResponse(status: 200, text: "ok\n", headers: headers) }
            return HTTPResponse(status: 503, text: "\(problem)\n", headers: headers)
        } catch {
            return HTTPResponse(status: 503, text: "\(error)\n", headers: headers)
        }
    }
}
