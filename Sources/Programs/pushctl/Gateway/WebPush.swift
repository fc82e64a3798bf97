import LinuxSystem
import PushModel
import PushSettings
import PushViews
import Store

extension Command {
    static let webpush = Command(
        name: "webpush", summary: "make, list and end subscriptions of web push",
        description: [
            """
            subscribe prints a subscription as a browser gives it to its page, and makes the device known: a server \
            sends to it with web-push, pywebpush or another library, and the push comes to the device as the event of \
            its service worker. A second subscription of a device ends its first one. The gateway makes the keys, and \
            takes pushes until the subscription ends.
            """,
            """
            unsubscribe ends the subscription of an endpoint, or of --app and --device. A push to it gets 410 \
            afterwards. The exit status is 1 when there is none. list prints the subscriptions, with shortened endpoints: an endpoint is a secret.
            """,
            """
            The endpoint has the address of --address, by which senders reach the gateway: https://ADDRESS/push/ID. \
            Where a "pushctl dev" is used, the address is that of its gateway. A sender must trust the gateway's \
            authority ("pushctl gateway env").
            """,
        ],
        operands: Operands(
            usage: "\(WebPushOrder.usage) [ENDPOINT]", count: 1...2, words: WebPushOrder.allCases.map(\.rawValue)),
        options: [.app, .device, .externalID, .vapidKey, .endpointAddress, .endpointGateway, .fullTokens, .json],
        examples: [
            Example(
                line: "pushctl webpush subscribe --app shop --device chrome >subscription.json",
                meaning: "a subscription for a server"),
            Example(line: "pushctl webpush list --full-tokens", meaning: "all endpoints"),
            Example(
                line: "pushctl webpush unsubscribe --app shop --device chrome",
                meaning: "then a push to its endpoint gets 410"),
        ]
    ) { arguments, session throws(Failure) in
        guard let order = WebPushOrder(rawValue: arguments.operands[0]) else {
            throw arguments.usageFailure("\(arguments.operands[0]): one of \(WebPushOrder.usage)")
        }
        guard order == .unsubscribe || arguments.operands.count == 1 else {
            throw arguments.usageFailure("\(arguments.operands[1]) is one operand too many")
        }
        switch order {
        case .subscribe: try session.subscribe(arguments)
        case .list: try session.listSubscriptions(arguments)
        case .unsubscribe: try session.unsubscribe(arguments)
        }
        return .done
    }
}

/// An order. The raw values are the words of the command line.
private enum WebPushOrder: String, CaseIterable {
    case subscribe, list, unsubscribe

    static let usage = allCases.map(\.rawValue).joined(separator: "|")
}

extension Option {
    fileprivate static let vapidKey = Option(
        "key", .text("KEY"), "subscribe: only this sender may send, by its public VAPID key in base64url")
    fileprivate static let endpointAddress = Option(
        "address", .text("ADDRESS:PORT"),
        "the address in endpoints, by which senders reach the gateway (\(PushHost.standardGatewayAddress))")
    fileprivate static let endpointGateway = Option(
        "gateway", .file, "subscribe: the gateway's Unix socket (\(Directories.standardGatewaySocket))")
}

extension Session {
    /// How long gateway and daemon may take to answer, in milliseconds.
    private static let answerLimit = 10_000

    /// The beginning of an endpoint.
    private func endpoints(_ arguments: Arguments) throws(Failure) -> String {
        let given: String
        if let address = arguments[.endpointAddress] {
            given = address
        } else {
            given = try DevAddresses.gateway(in: directories) ?? PushHost.standardGatewayAddress
        }
        return "https://\(given.hasSuffix(":443") ? String(given.dropLast(4)) : given)/push/"
    }

    fileprivate func subscribe(_ arguments: Arguments) throws(Failure) {
        guard let app = arguments[.app], let device = arguments[.device] else {
            throw arguments.usageFailure("a subscription needs --app and --device")
        }
        let endpoints = try endpoints(arguments)
        let made = try newSubscription(arguments)
        guard let id = made["id"]?.string, let keys = made["keys"] else {
            let said = made["message"]?.string
            if said != nil, arguments.has(.vapidKey) {
                throw arguments.usageFailure("--key: the gateway refuses it: \(said ?? "")")
            }
            throw Failure(.no, "the gateway makes no subscription: \(said ?? "it is another program")")
        }
        let target = Target(platform: .web, app: app, device: device, externalID: arguments[.externalID])
        try register(.new, id, target)
        var writer = JSONWriter()
        writer.object { writer in
            writer.member("endpoint", endpoints + id)
            writer.key("expirationTime")
            writer.null()
            writer.member("keys", raw: keys.compactBytes)
        }
        output.write(line: writer.bytes)
    }

    private func newSubscription(_ arguments: Arguments) throws(Failure) -> JSONNode {
        let socket = arguments[.endpointGateway] ?? directories.gatewaySocket
        let key = arguments[.vapidKey] ?? ""
        if arguments.has(.vapidKey), let fault = Self.fault(inKey: key) {
            throw arguments.usageFailure("--key: \(fault)")
        }
        do {
            return try GatewayStatusQuestion.ask(
                socket, for: "POST /subscribe" + (key.isEmpty ? "" : "?key=\(key)"),
                timeoutMilliseconds: Self.answerLimit)
        } catch {
            let start =
                DevDirectory.start(of: directories.controlSocket)
                ?? "systemctl enable --now pushrouter-gateway.socket"
            throw Failure(.unavailable, "\(error); start the gateway: \(start)")
        }
    }

    /// The reason why a text is no public VAPID key, a point on P-256 of 65 bytes in base64url; `nil`: it may be one.
    private static func fault(inKey text: String) -> String? {
        let wanted = "a public VAPID key has 87 characters of base64url and begins with B"
        if let other = text.first(where: { !($0.isASCII && ($0.isLetter || $0.isNumber)) && !"-_".contains($0) }) {
            let advice =
                ["+": ": write - for it", "/": ": write _ for it", "=": ": leave it out"][other] ?? "; \(wanted)"
            return "\"\(other)\" is no character of base64url\(advice)".showingControls()
        }
        if text.count == 43 { return "it has 43 characters, as a private key; \(wanted)" }
        return text.count == 87 && text.first == "B" ? nil : "it has \(counted(text.count, "character")); \(wanted)"
    }

    /// Tells the daemon of a device's token.
    private func register(_ kind: TokenRequest.Kind, _ token: String?, _ target: Target) throws(Failure) {
        var writer = JSONWriter()
        writer.object { writer in
            writer.member("op", Operation.token.rawValue)
            writer.member("kind", kind.rawValue)
            writer.member("platform", Platform.web.rawValue)
            // The daemon takes no null.
            if let app = target.app { writer.member("app", app) }
            writer.member("device", target.device)
            if let externalID = target.externalID { writer.member("external_id", externalID) }
            if let token { writer.member("token", token) }
        }
        _ = try ask(writer.line())
    }

    /// Sends a line to the daemon's socket for producers, and returns the reply.
    private func ask(_ line: [UInt8]) throws(Failure) -> JSONNode {
        let socket = directories.injectSocket
        let answer: [UInt8]?
        do throws(DaemonError) {
            let connection = try DaemonConnection(socket, timeoutMilliseconds: Self.answerLimit)
            try connection.send(line)
            answer = try connection.receiveLine(timeoutMilliseconds: Self.answerLimit)
        } catch {
            throw Failure(error, socket)
        }
        guard let reply = answer.flatMap({ try? JSONDocument(scanning: $0) })?.root, reply["ok"]?.bool == true else {
            let refusal = answer.flatMap { try? JSONDocument(scanning: $0) }?.root.refusal
            throw Failure(.no, refusal ?? "the daemon closed the connection")
        }
        return reply
    }

    fileprivate func listSubscriptions(_ arguments: Arguments) throws(Failure) {
        let endpoints = try endpoints(arguments)
        let devices = try reading { ledger throws(StoreError) in try ledger.knownDevices() }.filter { device in
            device.isSubscribed
                && [(arguments[.app], device.key.app), (arguments[.device], device.key.device)].allSatisfy {
                    $0.0 == nil || $0.0 == $0.1
                } && (arguments[.externalID] == nil || arguments[.externalID] == device.externalID)
        }
        func endpoint(_ token: String?) -> String {
            endpoints + (arguments.has(.fullTokens) ? token ?? "" : PushTokens.shortened(token ?? ""))
        }
        guard arguments.has(.json) else {
            let rows = devices.map { device in
                [device.key.app ?? "-", device.key.device, device.externalID ?? "-", endpoint(device.token)]
                    .map { $0.showingControls() }
            }
            return output.print(Text.columns(rows, indent: 0))
        }
        var writer = JSONWriter()
        writer.object { writer in
            writer.member(
                "subscriptions",
                array: { list in
                    for device in devices {
                        list.object { object in
                            object.member("app", device.key.app)
                            object.member("device", device.key.device)
                            object.member("external_id", device.externalID)
                            object.member("endpoint", endpoint(device.token))
                        }
                    }
                })
        }
        output.write(document: writer.bytes)
    }

    fileprivate func unsubscribe(_ arguments: Arguments) throws(Failure) {
        guard arguments.operands.count == 2 else {
            guard let app = arguments[.app], let device = arguments[.device] else {
                throw arguments.usageFailure("name the subscription: give ENDPOINT, or --app and --device")
            }
            let known = try reading { ledger throws(StoreError) in try ledger.knownDevices() }
            guard known.contains(where: { $0.isSubscribed && $0.key == DeviceKey(app: app, device: device) }) else {
                throw Failure(.no, "the device \(device) of \(app) has no subscription".showingControls())
            }
            return try register(.unregistered, nil, Target(app: app, device: device))
        }
        let id = String(arguments.operands[1].split(separator: "/").last ?? "")
        let found = try ask(TokenQuestion.line(token: id, presumed: Target(platform: .web)))
        guard found["known"]?.bool == true, found["platform"]?.string == Platform.web.rawValue else {
            throw Failure(.no, "no device has this endpoint")
        }
        try register(.unregistered, id, Target(app: found["app"]?.string, device: found["device"]?.string))
    }
}

extension KnownDevice {
    /// Whether a web push subscription is its token.
    fileprivate var isSubscribed: Bool { platform == .web && token != nil }
}
