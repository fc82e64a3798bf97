import PushModel
import PushSettings

/// The requests that no sender makes: those of a page in a browser, whose site may be anybody's.
///
/// A page may send a simple POST to any address, and a name of its own may lead to this one (DNS rebinding). Then
/// `Origin`, `Sec-Fetch-Site` or `Host` shows it. No client of FCM or APNs sends the first two.
struct GuestRules: Sendable {
    /// The names of `Names=`, in lower case.
    var names: Set<String> = []

    /// The answer to such a request; `nil`: it may go on.
    func refusal(of request: GatewayRequest, on connection: ConnectionFacts) -> GatewayResponse? {
        if let origin = request.header("origin") {
            return refusal(403, "a page in a browser sent it (Origin: \(origin.cut(toBytes: 100).showingControls()))")
        }
        if let site = request.header("sec-fetch-site"), site != "none" {
            return refusal(
                403, "a page in a browser sent it (Sec-Fetch-Site: \(site.cut(toBytes: 20).showingControls()))")
        }
        // A load balancer asks for the leader under a name of its own, and learns nothing else.
        guard !connection.isUnix, request.host == .other, let name = request.authority.flatMap(Self.name), !isOwn(name),
            request.target.segments != ["leader"]
        else { return nil }
        let shown = name.cut(toBytes: 100).showingControls()
        return refusal(421, "Host is \(shown): add the name to Names= in gateway.conf if it is this gateway's")
    }

    private func refusal(_ status: Int, _ cause: String) -> GatewayResponse {
        GatewayResponse(
            status: status, headers: [GatewayRequest.Header("content-type", "text/plain; charset=utf-8")],
            body: Array("pushrouter-gateway: \(cause)\n".utf8)
        ).because(nil, status == 403 ? "FORBIDDEN" : "MISDIRECTED", cause)
    }

    private func isOwn(_ name: String) -> Bool {
        name == "localhost" || name.hasSuffix(".localhost") || names.contains(name)
    }

    /// The name in an authority, in lower case; `nil` for an address, which no name leads to.
    private static func name(_ authority: String) -> String? {
        guard authority.utf8.first != UInt8(ascii: "[") else { return nil }
        let host = authority.utf8.prefix { $0 != UInt8(ascii: ":") }
        let isAddress = host.allSatisfy { ($0 >= 0x30 && $0 <= 0x39) || $0 == 0x2E }
        return isAddress ? nil : String(decoding: host, as: UTF8.self).lowercased()
    }
}

extension GatewayResponse {
    /// The end of a connection of HTTP/1.1 as APNs ends it: its server takes HTTP/2 alone, and says so in HTTP/2, with
    /// its settings and GOAWAY (RFC 9113, 3.4 and 6.8).
    ///
    /// Source: the bytes in reports (reactor-netty#399, vapor-apns#29); the words are those of Netty, which APNs seems to
    /// use.
    static func unexpectedHTTP1(_ request: GatewayRequest) -> GatewayResponse {
        func frame(_ type: UInt8, _ payload: [UInt8]) -> [UInt8] {
            let length = payload.count
            return [UInt8(length >> 16 & 255), UInt8(length >> 8 & 255), UInt8(length & 255), type, 0, 0, 0, 0, 0]
                + payload
        }
        let text = "Unexpected HTTP/1.x request: \(request.method) \(request.target) ".prefix(1024)
        // No stream was processed, and the error is PROTOCOL_ERROR.
        let goAway = frame(7, [0, 0, 0, 0, 0, 0, 0, 1] + Array(text.utf8))
        var response = GatewayResponse(status: 505).because(
            "APNs", "HTTP/1.1", "APNs takes HTTP/2 alone: the client needs a library with HTTP/2, and ALPN h2 in TLS")
        response.framesForHTTP1 = frame(4, []) + goAway
        return response
    }
}
