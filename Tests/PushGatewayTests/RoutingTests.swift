import Testing

@testable import PushGateway
@testable import PushModel

@Suite("The route of a request")
struct RoutingTests {
    private static let fcm = "fcm.googleapis.com"
    private static let apple = "api.push.apple.com"

    private func route(_ method: String, _ target: String, host: String? = nil) throws -> GatewayRoute {
        let headers = host.map { [(name: "Host", value: $0)] } ?? []
        return try GatewayRoute(GatewayRequest(method: method, target: target, headers: headers))
    }

    private func ending(_ request: GatewayRequest, _ rules: RoutingRules = RoutingRules()) -> GatewayResponse? {
        do {
            _ = try GatewayRoute(request, rules)
            return nil
        } catch {
            return error.response(to: request)
        }
    }

    @Test("leads to the service of the requested host, and at another host to either service", arguments: [nil, true])
    func byHost(_ named: Bool?) throws {
        func host(_ name: String) -> String? { named.map { _ in name } }
        let all = TopicPath(project: "demo", registration: "tok", topic: nil)
        let one = TopicPath(project: "demo", registration: "tok", topic: "news")
        let (fcm, apple) = (host(Self.fcm), host(Self.apple))
        let registration = "/v1/projects/demo/registrations/tok/topicSubscriptions"
        #expect(try route("POST", "/v1/projects/demo/messages:send", host: fcm) == .send(project: "demo"))
        #expect(try route("POST", "/v1/projects/demo/messages:send?alt=json", host: fcm) == .send(project: "demo"))
        #expect(try route("POST", "/token", host: host("oauth2.googleapis.com")) == .accessToken)
        #expect(try route("POST", "/oauth2/v4/token", host: host("www.googleapis.com")) == .accessToken)
        #expect(try route("POST", "\(registration)?topic_name=news", host: fcm) == .subscriptions(all, .create))
        #expect(try route("GET", registration, host: fcm) == .subscriptions(all, .list))
        #expect(try route("GET", "\(registration)/news", host: fcm) == .subscriptions(one, .get))
        #expect(try route("PATCH", "\(registration)/news", host: fcm) == .subscriptions(one, .patch))
        #expect(
            try route("DELETE", "\(registration)/news?allow_missing=true", host: fcm) == .subscriptions(one, .delete))
        let iid = host("iid.googleapis.com")
        #expect(try route("POST", "/iid/v1:batchAdd", host: iid) == .topicBatch(isAdding: true))
        #expect(try route("POST", "/iid/v1:batchRemove", host: iid) == .topicBatch(isAdding: false))
        #expect(try route("POST", "/3/device/ab12", host: apple) == .device(token: "ab12"))
        #expect(try route("POST", "/3/device/", host: apple) == .device(token: ""))
        for method in ["GET", "HEAD"] { #expect(try route(method, "/leader", host: fcm) == .leader) }
    }

    @Test("keeps an escaped slash in a token")
    func escapedSlash() throws {
        let path = TopicPath(project: "demo", registration: "a:b/c", topic: nil)
        let target = "/v1/projects/demo/registrations/a%3Ab%2Fc/topicSubscriptions?topic_name=news"
        #expect(try route("POST", target) == .subscriptions(path, .create))
        #expect(throws: Unrouted.self) { try route("POST", "/v1/projects/demo/registrations/a:b/c/topicSubscriptions") }
    }

    @Test("uses the host of the target, or else of :authority, or else of host, in any case and with any port")
    func authorities() throws {
        let absolute = GatewayRequest.post(
            "https://\(Self.apple):443/3/device/ab", headers: [("host", Self.fcm)])
        #expect(absolute.authority == "api.push.apple.com:443")
        #expect(absolute.target.description == "/3/device/ab")
        #expect(try GatewayRoute(absolute) == .device(token: "ab"))
        let pseudo = GatewayRequest.post(
            "/3/device/ab", headers: [(":authority", "API.Push.Apple.com:2197"), ("host", Self.fcm)])
        #expect(try GatewayRoute(pseudo) == .device(token: "ab"))
        #expect(pseudo.headers.map(\.name) == ["host"])
        #expect(GatewayRequest.post("http://x").target.description == "/")
        #expect(GatewayRequest.post("http://x?a=b").target.query("a") == "b")
        #expect(GatewayRequest.post("/").authority == nil)
    }

    @Test("ends at a host without the path")
    func otherHost() {
        let token = GatewayRequest.post("/token", headers: [("host", Self.fcm)])
        #expect(ending(token)?.status == 404)
        let send = GatewayRequest.post("/v1/projects/demo/messages:send", headers: [("host", Self.apple)])
        #expect(ending(send)?.text == #"{"reason":"BadPath"}"#)
    }

    @Test("ends with Google's error in JSON for an unknown path, and for another method")
    func googlesErrors() throws {
        let paths = [
            "/", "/v1/projects//messages:send", "/v1/projects/demo/messages:send/x", "/v1/projects/demo/messages",
            "/v1/projects/demo/registrations/tok", "/iid/info/tok", "nothing", "/v1/projects/%zz/messages:send",
        ]
        for path in paths {
            let answer = try #require(ending(.post(path)), "\(path)")
            #expect(answer.status == 404)
            #expect(answer.header("content-type") == "application/json; charset=UTF-8")
            #expect(answer.text.has(#""status":"NOT_FOUND""#))
        }
        let get = GatewayRequest(method: "GET", target: "/v1/projects/demo/messages:send")
        #expect(ending(get)?.status == 404)
        var rules = RoutingRules()
        rules.googleWrongMethod = .invalidArgument
        #expect(ending(get, rules)?.status == 400)
    }

    @Test("ends with APNs' reason, and the id of the request unchanged")
    func applesErrors() throws {
        let headers = [(name: "host", value: Self.apple), (name: "APNs-ID", value: "Not-a-UUID")]
        let path = try #require(ending(.post("/3/devices/ab", headers: headers)))
        #expect(path.status == 404)
        #expect(path.text == #"{"reason":"BadPath"}"#)
        #expect(path.headers == [GatewayRequest.Header("apns-id", "Not-a-UUID")])
        let method = try #require(
            ending(GatewayRequest(method: "GET", target: "/3/device/ab", headers: headers)))
        #expect(method.status == 405)
        #expect(method.text == #"{"reason":"MethodNotAllowed"}"#)
        #expect(method.header("apns-id") == "Not-a-UUID")
        // At a host of no service the first number of the path selects the service.
        #expect(ending(.post("/4/broadcasts/apps/com.example.shop"))?.text == #"{"reason":"BadPath"}"#)
    }

    @Test(
        "ends with a page for a service that Google shut down, with any method",
        arguments: [
            "/batch", "/batch/fcm", "/fcm/send", "/fcm/notification", "/gcm/send",
        ])
    func ended(_ path: String) throws {
        for method in ["POST", "GET"] {
            let request = GatewayRequest(method: method, target: path)
            let answer = try #require(ending(request))
            #expect(answer.status == 404)
            #expect(answer.header("content-type") == "text/html")
            #expect(answer.text == "<html><title>Error 404 (Not Found)!!1</title></html>")
            #expect(throws: Unrouted.self) { try GatewayRoute(request) }
        }
    }

    @Test("to the leading machine ends like that of pushrouter-metrics")
    func leader() {
        #expect(Leadership.leads.response.status == 200)
        #expect(Leadership.leads.response.text == "ok\n")
        let elsewhere = Leadership.elsewhere("node2 leads").response
        #expect(elsewhere.status == 503)
        #expect(elsewhere.text == "node2 leads\n")
        #expect(elsewhere.header("cache-control") == "no-store")
        #expect(ending(.post("/leader"))?.status == 404)
    }
}
