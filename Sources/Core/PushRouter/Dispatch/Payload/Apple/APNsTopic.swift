/// The topic of a request to APNs: the bundle id of an app, with a suffix for some push types.
///
/// Source: APNSwift (`APNSPushType.swift`, `Widgets`), apns2; the suffix of controls is from third-party code.
public struct APNsTopic: Hashable, Sendable {
    /// The topic, unchanged.
    public let text: String
    /// The bundle id of the app.
    public let app: String
    /// The suffix; `nil` if there is none.
    public let suffix: Suffix?

    /// The suffixes. The raw values follow the bundle id.
    public enum Suffix: String, Sendable, CaseIterable {
        case complication = ".complication"
        case controls = ".push-type.controls"
        case fileProvider = ".pushkit.fileprovider"
        case liveActivity = ".push-type.liveactivity"
        case locationQuery = ".location-query"
        case pushToTalk = ".voip-ptt"
        case voip = ".voip"
        case widgets = ".push-type.widgets"

        /// The push type of the suffix.
        public var pushType: String {
            switch self {
            case .complication: "complication"
            case .controls: "controls"
            case .fileProvider: "fileprovider"
            case .liveActivity: "liveactivity"
            case .locationQuery: "location"
            case .pushToTalk: "pushtotalk"
            case .voip: "voip"
            case .widgets: "widgets"
            }
        }
    }

    /// Splits a topic into bundle id and suffix.
    ///
    /// - Parameter text: the value of the header; the result is `nil` if it has no bundle id.
    public init?(_ text: String) {
        let suffix = Suffix.allCases.first { text.hasSuffix($0.rawValue) }
        let app = text.dropLast(suffix?.rawValue.count ?? 0)
        guard !app.isEmpty else { return nil }
        self.text = text
        self.app = String(app)
        self.suffix = suffix
    }

    /// Whether the topic has the suffix of the push type; for a type without one, whether it has none.
    public func suits(pushType: String?) -> Bool {
        let wanted = Suffix.allCases.first { $0.pushType == pushType }
        return suffix == wanted
    }
}
