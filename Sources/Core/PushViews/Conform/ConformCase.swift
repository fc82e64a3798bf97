public import PushModel
public import PushRouter

/// A case for the tests of an app: a call of the platform, and what the app must do with it. One line of a file that a
/// team keeps beside its tests.
public struct ConformCase: Sendable {
    private(set) var call: ConformCall
    let want: ConformWant

    /// Its name.
    public var name: String { call.name }

    /// Decides a call again, as a newer model does.
    init(_ call: ConformCall, by table: RoutingTable) throws(ConformError) {
        do { want = try ConformWant.of(call, by: table) } catch { throw ConformError(error) }
        self.call = call
        self.call.callback = want.callback
    }

    /// The cases of one push: its calls in the background, those of other states that differ from them, the tap, and on
    /// iOS the same without a Braze instance.
    ///
    /// - Parameters:
    ///   - push: the push.
    ///   - table: the configuration, with the rules of the app's SDKs alone.
    ///   - leftOut: gets the name of a push without a case, and the reason.
    public static func all(
        of push: ConformPush, by table: RoutingTable, leftOut: (String, String) -> Void
    ) -> [ConformCase] {
        do throws(ConformError) {
            if push.isClick { return [try ConformCase(push.click, by: table)] }
            var found: [ConformCase] = []
            for state in push.platform.appStates.sorted(by: { $0 == .background && $1 != .background }) {
                for call in try push.calls(in: state, by: table) {
                    let one = try ConformCase(call, by: table)
                    let isNew = !found.contains { $0.want.answer == one.want.answer }
                    if state == .background || isNew && one.call.callback != .none { found.append(one) }
                }
            }
            for one in found
            where one.want.owner == ProviderRule.brazeName && push.platform.mayLackInstance(for: one.call.callback) {
                var call = one.call
                call.sdk = .missing
                call.name += "/nil"
                found.append(try ConformCase(call, by: table))
            }
            if push.comesAgain, let first = found.first {
                var call = first.call
                call.isRepeat = true
                call.name += "/again"
                found.append(try ConformCase(call, by: table))
            }
            return found
        } catch {
            leftOut(push.name, "\(error.field): \(error.message)")
            return []
        }
    }

    /// The case as a line, without its line feed.
    ///
    /// - Parameter providers: the SDKs of the app.
    public func line(providers: [String]) -> [UInt8] {
        var writer = JSONWriter(reserving: 2048)
        writer.object { writer in
            writer.member("name", call.name)
            writer.member("platform", call.platform.rawValue)
            writer.member("callback", call.callback == .none ? nil : call.callback.rawValue)
            writer.member("state", call.state.rawValue)
            if let transport = call.transport { writer.member("transport", transport.rawValue) }
            if call.sdk != .ready { writer.member("sdk", call.sdk.rawValue) }
            if call.isRepeat { writer.member("repeat", true) }
            if let id = call.messageID { writer.member("message_id", id) }
            for (key, value) in call.seen.root.members { writer.member(key, raw: value.rawBytes) }
            writer.key("want")
            want.write(to: &writer)
            writer.member("why", array: { list in want.why.forEach { list.string($0) } })
            writer.member("explain", call.command(providers: providers))
        }
        return writer.bytes
    }
}

/// A push of which cases are made.
public struct ConformPush: Sendable {
    /// The group and the name in it: `braze/near-ab-uppercase`.
    var path: String
    /// The platform of its device.
    public let platform: Platform
    var deliver: DeliverRequest
    /// Whether it is the data of a notification that was clicked, on the web.
    var isClick = false
    /// Whether there is a case in which it comes twice.
    var comesAgain = false

    /// Joins the parts.
    public init(path: String, platform: Platform, deliver: DeliverRequest) {
        (self.path, self.platform, self.deliver) = (path, platform, deliver)
    }

    /// The name of its first case.
    public var name: String { "\(platform.rawValue)/\(path)" }

    fileprivate var click: ConformCall {
        var writer = JSONWriter()
        writer.object { $0.member(platform.seenName, raw: deliver.payload.compactBytes) }
        return ConformCall(
            name: name, platform: platform, callback: .notificationclick, state: .background,
            seen: ConformCall.document(writer.bytes))
    }

    /// The calls of the platform in a state of the app.
    ///
    /// - Throws: `ConformError` if an app never sees such a payload.
    fileprivate func calls(in state: AppState, by table: RoutingTable) throws(ConformError) -> [ConformCall] {
        let moved = deliver.redirected(to: Target(platform: platform), state: state)
        let explanation: Explanation
        do { explanation = try Explanation(moved, platform: platform, table: table) } catch {
            throw ConformError(error)
        }
        let decision = explanation.decision
        guard let seen = decision.seenByApp(explanation.shown.content) else {
            throw ConformError("payload.data", "a value is no string, and FCM gives strings alone")
        }
        guard decision.callbacks.allSatisfy(\.isOfPush) else {
            throw ConformError(
                "payload", "it is no push: FCM calls \(decision.callbacks[0].rawValue)")
        }
        var call = ConformCall(
            name: name, platform: platform,
            transport: decision.transport == platform.usualTransport ? nil : decision.transport, callback: .none,
            state: state, messageID: decision.message?.messageID, seen: ConformCall.document(seen))
        let again = try? decide(Delivery(call.delivery(), platform: platform), settings: table.detection)
        guard again?.callbacks == decision.callbacks, again?.outcome == decision.outcome,
            again?.provider == decision.provider
        else {
            throw ConformError(
                "payload", "what decides does not reach the app: headers, or keys of FCM's own")
        }
        if state != .background { call.name += "/\(state.rawValue)" }
        var callbacks = decision.callbacks.isEmpty ? [.none] : decision.callbacks
        if state == .background, explanation.tap.isPossible { callbacks += [platform.tapCallback].compactMap(\.self) }
        return callbacks.map { callback in
            var one = call
            one.callback = callback
            if callback != .none, callback != platform.usualCallback { one.name += "/\(callback.rawValue)" }
            return one
        }
    }
}

extension Platform {
    /// The callback that a name leaves out.
    fileprivate var usualCallback: Callback {
        switch self {
        case .android: .onMessageReceived
        case .ios: .didReceiveRemoteNotification
        case .web: .push
        }
    }

    /// The callback of a tap that hands the delivered payload back to the app's code; `nil`: none does.
    fileprivate var tapCallback: Callback? {
        switch self {
        case .ios: .didReceiveResponse
        case .android, .web: nil
        }
    }
}

extension Callback {
    /// Whether it brings a push to the app's code.
    fileprivate var isOfPush: Bool {
        [.onMessageReceived, .didReceiveRemoteNotification, .willPresent, .serviceExtension, .push].contains(self)
    }
}
