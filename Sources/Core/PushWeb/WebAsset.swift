import PushModel
import PushReporting

/// A file that pages load. Its name has a digest of its bytes, so that browsers may keep it for ever.
struct WebAsset: Sendable {
    let path: String
    private let type: String
    private let body: [UInt8]

    private init(_ name: String, type: String, _ body: [UInt8]) {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in body { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
        path = "/assets/\(String(hash, radix: 16))-\(name)"
        (self.type, self.body) = (type, body)
    }

    static let style = WebAsset("page.css", type: "text/css; charset=utf-8", PackageResources.page_css)
    static let report = WebAsset("report.css", type: "text/css; charset=utf-8", Array(HTMLPage.style.utf8))
    static let keys = WebAsset("keys.js", type: "text/javascript; charset=utf-8", PackageResources.keys_js)
    static let live = WebAsset("live.js", type: "text/javascript; charset=utf-8", PackageResources.live_js)

    static let all = [style, report, keys, live]

    static func named(_ path: [String]) -> WebAsset? {
        let path = "/" + path.joined(separator: "/")
        return all.first { $0.path == path }
    }

    var response: WebResponse {
        WebResponse(
            200, type: type, body: body, headers: [("Cache-Control", "public, max-age=31536000, immutable")])
    }
}
