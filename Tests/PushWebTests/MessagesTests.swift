import TestSupport
import Testing

@testable import PushModel
@testable import PushViews

@Suite("Messages of the page", .timeLimit(.minutes(30)))
struct MessagesTests {
    private func request(_ target: String) -> WebRequest? {
        WebRequest(method: "GET", target: target, headers: [], body: [], peer: WebPeer(name: "127.0.0.1"))
    }

    @Test("reads paths and queries, percent escapes decoded")
    func targets() throws {
        let target = try #require(request("/push/41?query=a%20b+c&before=7&empty=&flag&query=second"))
        #expect(target.path == ["push", "41"])
        #expect(target.query["query"] == "a b c" && target.query["before"] == "7")
        #expect(target.query["empty"] == nil && target.query["flag"] == nil && target.query["none"] == nil)
        #expect(target.query.raw("empty") == "" && target.query.raw("none") == nil)
        #expect(target.query.all("query") == ["a b c", "second"])
        #expect(request("/")?.path == [] && request("//push///41/")?.path == ["push", "41"])
        // A plus is a space in a query alone, and a slash that is escaped is none.
        #expect(request("/a+b/c%2Fd")?.path == ["a+b", "c/d"])
        #expect(request("/?q=%3D%26%C3%A9")?.query["q"] == "=&é")
        #expect(request("/?a=b?c")?.query["a"] == "b?c")
    }

    @Test(
        "takes no target that is no path, leads upwards, or has an escape that is none",
        arguments: [
            "", "*", "push/41", "http://localhost/push/41", "?query=a", "/..", "/push/../etc", "/%2e%2e/etc", "/.%2E/x",
            "/./x", "/.", "/%", "/%4", "/%zz", "/%4g", "/%ff", "/%c3", "/%c0%af", "/?a=%", "/?a=%ff", "/?%zz=a",
            "/?a=%ed%a0%80",
        ])
    func badTargets(_ target: String) { #expect(request(target) == nil, "\(target)") }

    @Test("finds headers by their names in any case, and joins those that come twice")
    func headers() throws {
        let request = try WebRequest.test("GET", "/", [("X-Two", "a"), ("x-two", "b"), ("ONE", "c")])
        #expect(request.headers["x-two"] == "a, b" && request.headers["one"] == "c")
        let cookies = try WebRequest.test("GET", "/", [("Cookie", "a=1;b=2; c=x=y;d")])
        #expect(cookies.cookie("a") == "1" && cookies.cookie("b") == "2" && cookies.cookie("c") == "x=y")
        #expect(cookies.cookie("d") == nil && cookies.cookie("e") == nil)
    }

    @Test("reads a form of a browser, and nothing else for one")
    func forms() throws {
        let form = try #require(
            try WebRequest.form("/explain", [("payload", "{\"a\": \"é & +\"}"), ("n", "1"), ("n", "2")]).form)
        #expect(form["payload"] == "{\"a\": \"é & +\"}" && form.all("n") == ["1", "2"])
        func fields(_ type: String?, _ body: [UInt8]) -> WebParameters? {
            WebRequest(
                method: "POST", target: "/", headers: type.map { [(name: "Content-Type", value: $0)] } ?? [],
                body: body, peer: WebPeer(name: "x"))?.form
        }
        let type = "application/x-www-form-urlencoded"
        #expect(fields("\(type); charset=UTF-8", Array("a=1".utf8))?["a"] == "1")
        #expect(fields(type.uppercased(), Array("a=1".utf8))?["a"] == "1")
        for other in ["application/json", "text/plain", "multipart/form-data", nil] {
            #expect(fields(other, Array("a=1".utf8)) == nil)
        }
        #expect(fields(type, [0x61, 0x3D, 0xFF]) == nil && fields(type, Array("a=%zz".utf8)) == nil)
        #expect(fields(type, [])?.all("a") == [])
    }

    @Test("reads a bounded number of parameters")
    func bound() {
        let text = String(repeating: "a=b&", count: WebParameters.countMax + 100)
        #expect(WebParameters(text[...])?.all("a").count == WebParameters.countMax)
    }

    @Test("reads any text as it writes it, in queries and in paths")
    func roundTrip() throws {
        var random = SeededGenerator(seed: 41)
        for _ in 0..<2000 {
            var text = ""
            for _ in 0..<Int.random(in: 1...20, using: &random) {
                let value = UInt32.random(in: 0...(Bool.random(using: &random) ? 0x7F : 0x10FFFF), using: &random)
                if let scalar = Unicode.Scalar(value) { text.unicodeScalars.append(scalar) }
            }
            let encoded = text.percentEncoded
            #expect(encoded.utf8.allSatisfy { (0x21...0x7E).contains($0) })
            guard !text.isEmpty else { continue }
            #expect(request("/?q=\(encoded)")?.query.raw("q") == text)
            if text != ".", text != ".." { #expect(request("/\(encoded)")?.path == [text]) }
        }
    }

    @Test("tells programs by their paths")
    func programs() {
        #expect(request("/api/pushes")?.isOfAPI == true && request("/events")?.isOfAPI == true)
        #expect(request("/")?.isOfAPI == false && request("/apis")?.isOfAPI == false)
    }

    @Test("forbids whatever is not its own, in each answer")
    func safety() {
        let policy = WebResponse.safety.first { $0.name == "Content-Security-Policy" }?.value ?? ""
        #expect(policy.hasPrefix("default-src 'none'") && !policy.contains("unsafe") && !policy.contains("*"))
        #expect(WebResponse.safety.contains { $0.name == "X-Content-Type-Options" && $0.value == "nosniff" })
    }

    @Test("asks the daemon for each act and for what it does now, and only the ledger for all else")
    func daemon() throws {
        func asks(_ method: String, _ target: String) throws -> Bool {
            WebDesk.asksDaemon(try .test(method, target))
        }
        // Explanations are by the configuration in force.
        for path in ["/explain", "/api/explain"] { #expect(try asks("POST", path), "\(path)") }
        for path in ["/report", "/senders", "/api/status"] {
            #expect(try asks("GET", path) && asks("HEAD", path), "\(path)")
        }
        for route in WebRoute.all where route.right != nil {
            #expect(try asks(route.method, route.pattern.replacing("{seq}", with: "41")), "\(route.pattern)")
        }
        for (method, path) in [("GET", "/"), ("GET", "/push/41"), ("GET", "/explain"), ("GET", "/api/pushes")] {
            #expect(try !asks(method, path), "\(path)")
        }
    }
}
