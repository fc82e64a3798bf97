import PushModel
import PushRouter

/// A call of the platform into an app, and all that decides what the app must do with it: the first part of a case of
/// `pushctl conform`.
struct ConformCall: Sendable {
    /// The name of the case: a path that stays the same from version to version.
    var name: String
    var platform: Platform
    /// The service that carries the push; `nil`: the platform's usual one.
    var transport: Transport?
    /// The callback; `none`: no code of the app runs.
    var callback: Callback
    var state: AppState
    /// Whether the app has a Braze instance.
    var sdk = SDKState.ready
    /// Whether a push with the same id came just before.
    var isRepeat = false
    var messageID: String?
    /// The payload as ``Decision/seenByApp(_:)`` gives it.
    var seen: JSONDocument

    /// The payload in the form that `explain` takes.
    private var payload: JSONDocument {
        switch platform {
        case .ios: return seen
        case .web: return Self.document(seen.root[platform.seenName]?.compactBytes ?? [])
        case .android:
            var writer = JSONWriter()
            writer.object { writer in
                let members = seen.root.members.filter { $0.value.kind != .null }
                for (key, value) in members { writer.member(key, raw: value.rawBytes) }
                if let messageID { writer.member("messageId", messageID) }
            }
            return Self.document(writer.bytes)
        }
    }

    /// The delivery of the call.
    ///
    /// - Parameter sdk: `nil`: as the call has it.
    func delivery(_ sdk: SDKState? = nil) -> DeliverRequest {
        DeliverRequest(
            target: Target(platform: platform), transport: transport, state: state, sdk: sdk ?? self.sdk,
            payload: payload.root)
    }

    /// The command that explains the push; for a click on the web the one that shows the decision on it.
    ///
    /// - Parameter providers: the SDKs of the app.
    func command(providers: [String]) -> String {
        var words = ["pushctl", "explain", "--platform", platform.rawValue, "--app-state", state.rawValue]
        if let transport { words += ["--transport", transport.rawValue] }
        if sdk == .missing { words += ["--sdk", sdk.rawValue] }
        words += ["--providers", providers.joined(separator: ","), "-"]
        var text = payload.root.compactBytes
        if callback == .notificationclick {
            var writer = JSONWriter()
            writer.object {
                $0.member("op", "interact")
                $0.member("at", 0)
                $0.member("platform", platform.rawValue)
                $0.member("device", "browser")
                $0.member("kind", InteractRequest.Kind.opened.rawValue)
                $0.member("payload", raw: text)
            }
            (text, words) = (writer.bytes, ["pushctl", "test", "--trace", "-"])
        }
        let printed = String(decoding: text, as: UTF8.self).asShellWord
        return "printf %s \(printed) | \(words.map { $0.contains(",") ? $0 : $0.asShellWord }.joined(separator: " "))"
    }

    /// - Parameter bytes: JSON that comes from a document or a writer.
    static func document(_ bytes: [UInt8]) -> JSONDocument {
        do { return try JSONDocument(scanning: bytes, limits: JSONLimits(depth: .max)) } catch {
            preconditionFailure("a part of a document is a document: \(error.message)")
        }
    }
}

/// The right answer to a call. The members are those of `want` in a case.
struct ConformWant: Sendable {
    /// The callback that the platform would run; `none`: none.
    var callback: Callback
    /// The provider whose SDK must get the call, or `own`; without a callback what becomes of the push. `nil`: the
    /// model leaves it open.
    var owner: String?
    /// The value that Braze's method returns; `nil`: none is called, or it returns nothing.
    var returned: Bool?
    /// How often the completion handler is called, or the promise of `waitUntil` settles; `nil`: there is none.
    var completions: Int?
    /// The words that the completion handler takes; empty: none.
    var results: [String] = []
    /// The deadline of the call.
    var deadline: Duration?
    var shown: ShownNotification?
    /// The effect of a tap with a Braze instance and without one; `nil`: no tap, or an app that needs no instance.
    var tap: Tap?
    var tapWithoutInstance: Tap?
    /// The reasons, for people.
    var why: [String]
    /// The answer without texts of the payload: a state of the app with the same one needs no case of its own.
    var answer: [String]
    /// The codes of the reasons, which must stay, too, when texts of the payload are masked.
    var codes: [String]

    /// The owner of a push that is the app's own.
    static let ownOwner = "own"

    /// Decides a call.
    ///
    /// - Throws: `PayloadError` for a payload that the platform refuses.
    static func of(_ call: ConformCall, by table: RoutingTable) throws(PayloadError) -> ConformWant {
        let isClick = call.callback == .notificationclick
        return isClick ? try ConformWant(clickOf: call, by: table) : try ConformWant(pushOf: call, by: table)
    }

    private init(pushOf call: ConformCall, by table: RoutingTable) throws(PayloadError) {
        let explanation = try Explanation(call.delivery(), platform: call.platform, table: table)
        let decision = explanation.decision
        deadline = table.budget
        let isRepeat = call.isRepeat && decision.duplicateID != nil
        let isTap = call.callback == .didReceiveResponse
        if isRepeat || isTap && !explanation.tap.isPossible {
            callback = .none
        } else if isTap || decision.callbacks.contains(call.callback) {
            callback = call.callback
        } else {
            callback = decision.callbacks.first ?? .none
        }
        let isBraze = decision.braze != nil
        let lacksInstance = isBraze && call.sdk == .missing && call.platform.mayLackInstance(for: callback)
        (why, answer, codes) = (explanation.reasons, [], explanation.reasonCodes.map(\.rawValue))
        if isTap { why.append("a tap: \(explanation.tap.text)") }
        if callback == .none {
            owner = (isRepeat ? .duplicate : decision.outcome)?.rawValue ?? "nobody"
            if isRepeat { why.append("the id came just before: FCM drops a message with one of its last ten ids") }
        } else {
            owner = lacksInstance ? nil : decision.provider ?? Self.ownOwner
            if lacksInstance { why.append("the app has no Braze instance: it completes the call itself") }
            if !lacksInstance, callback.hasBrazeResult { returned = isBraze }
            if callback.hasCompletionHandler || callback.isOfWorker { completions = 1 }
            results = callback.completionWords
        }
        if !isRepeat { shown = explanation.shown }
        if !isRepeat, explanation.tap.isPossible { tap = explanation.tap }
        if tap != nil, call.platform.mayLackInstance(for: .didReceiveResponse) {
            tapWithoutInstance = try Explanation(call.delivery(.missing), platform: call.platform, table: table).tap
        }
        answer = [callback.rawValue, owner ?? "", shown?.by.rawValue ?? ""]
        answer += [tap, tapWithoutInstance].map { $0?.verdict?.rawValue ?? "" }
        codes += [decision.braze?.kind.rawValue ?? ""] + (decision.braze?.features.map(\.rawValue) ?? [])
    }

    /// Decides a click, which hands back the data that the service worker left in the notification.
    private init(clickOf call: ConformCall, by table: RoutingTable) throws(PayloadError) {
        let data = call.seen.root[call.platform.seenName] ?? call.seen.root
        let payload = try HandedBackPayload(data, platform: call.platform, settings: table.detection)
        let click = decide(
            .opened, on: payload, of: payload.provider, platform: call.platform, rules: table.interaction)
        (callback, owner, completions) = (click.callback, payload.provider ?? Self.ownOwner, 1)
        deadline = table.budget
        why = click.reasons.map(\.description)
        (answer, codes) = ([owner ?? ""], click.reasons.map(\.code.rawValue))
    }

    /// The object `want`.
    func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("owner", owner)
            writer.member("returned", returned)
            writer.member("completions", completions)
            writer.member("results", array: { list in results.forEach { list.string($0) } })
            writer.member("deadline_ms", deadline?.milliseconds)
            writer.key("shown")
            if let shown { shown.write(to: &writer) } else { writer.null() }
            for (name, tap) in [("tap", tap), ("tap_without_instance", tapWithoutInstance)] {
                writer.key(name)
                guard let tap else {
                    writer.null()
                    continue
                }
                writer.object {
                    $0.member("counts", tap.isDirectOpen && !tap.isLoss)
                    $0.member("as", tap.text)
                }
            }
        }
    }
}

extension Callback {
    /// Whether a service worker gets it, which completes it by the promise in `waitUntil`.
    var isOfWorker: Bool { self == .push || self == .notificationclick }

    /// Whether a method of Braze's with a result stands for it: `handleBrazeRemoteMessage`,
    /// `handleBackgroundNotification`, `handleUserNotification`.
    fileprivate var hasBrazeResult: Bool {
        self == .onMessageReceived || self == .didReceiveRemoteNotification || self == .didReceiveResponse
    }

    /// The words that its completion handler takes.
    fileprivate var completionWords: [String] {
        switch self {
        case .didReceiveRemoteNotification: FetchResult.allCases.map(\.rawValue)
        case .willPresent: PresentationOption.allCases.map(\.rawValue)
        default: []
        }
    }
}
