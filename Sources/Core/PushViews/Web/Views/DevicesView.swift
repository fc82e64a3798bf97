import PushModel
import PushRouter

extension WebDesk {
    private static let devicesMax = 200

    /// The token of a device, as far as it is shown.
    func shownToken(of device: KnownDevice) -> String? {
        device.token.map { facts.fullTokens ? $0 : PushTokens.shortened($0) }
    }

    func devices(_ request: WebRequest) throws(WebProblem) -> WebAnswer {
        let devices = try reading { () throws(SourceError) in try source.devices(limit: Self.devicesMax) }
        // A column that no device fills says nothing.
        let columns: [(Column<KnownDevice>, isFilled: Bool)] = [
            (.name("Device") { HTML.search(.device, $0.key.device) }, true),
            (.words("The next push finds it") { state(of: $0) }, true),
            (.words("App") { "\($0.key.app ?? "")" }, devices.contains { $0.key.app != nil }),
            (.words("Platform") { "\($0.platform.shownName)" }, true),
            (
                .words("User") { $0.externalID.map { HTML.search(.user, $0) } ?? "" },
                devices.contains { $0.externalID != nil }
            ),
            (.words("Token") { "\(shownToken(of: $0) ?? "")" }, devices.contains { $0.token != nil }),
            (
                .words("Topics") { "\($0.detail.topics.prefix(5).map(\.topic.topic).joined(separator: ", "))" },
                devices.contains { !$0.detail.topics.isEmpty }
            ),
        ]
        let table = HTML.table("Devices, the newest first", devices, columns.filter(\.isFilled).map(\.0))
        let empty = HTML.empty(
            "No device is known yet: a push, a session or a token names one.",
            "pushctl inject --example notification-block --device pixel-8")
        return .response(page(request, title: "Devices", devices.isEmpty ? empty : table))
    }

    /// The state of a device, which opens to be set.
    private func state(of device: KnownDevice) -> Markup {
        let state = device.detail.state
        let words = [
            state.state?.inWords, state.locked.map { $0 ? "locked" : "unlocked" },
            state.notifications.map { "notifications \($0.rawValue)" }, state.osVersion.map { "system version \($0)" },
            state.sdk.map { "Braze's SDK \($0.inWords)" },
        ].compactMap(\.self)
        let text = words.isEmpty ? "in the state that the push names" : words.joined(separator: ", ")
        guard daemon.mayInject else { return "\(text)" }
        let target = [
            ("app", device.key.app ?? ""), ("device", device.key.device), ("platform", device.platform.rawValue),
        ]
        return HTML.details(
            text, button("/devices", "Set", target, more: stateFields(device.platform, state.state?.rawValue)))
    }
}

extension AppState {
    /// The state of the app, for people.
    fileprivate var inWords: String {
        switch self {
        case .foreground: "app in front"
        case .background: "app in the background"
        case .terminated: "app not running"
        case .forceQuit: "app quit by the person"
        case .forceStopped: "app stopped in the settings"
        }
    }
}

extension SDKState {
    /// The state of Braze's SDK, for people.
    fileprivate var inWords: String {
        switch self {
        case .ready: "ready"
        case .missing: "without an instance"
        case .delayed: "with a late instance"
        }
    }
}
