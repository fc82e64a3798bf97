@testable import PushModel
@testable import PushRouter
@testable import PushSettings

/// Parses a JSON text.
func json(_ text: String) throws -> JSONNode {
    try JSONDocument(scanning: Array(text.utf8)).root
}

/// The decision on a payload in JSON.
func decision(
    _ platform: Platform, _ payload: String, state: AppState = .background, locked: Bool = false,
    notifications: NotificationPermission = .allowed, app: String? = nil
) throws -> Decision {
    try decide(
        Delivery(
            platform: platform, app: app, state: state, locked: locked, notifications: notifications,
            payload: json(payload)), settings: .shipped)
}

extension DetectionSettings {
    /// The settings without any file of the user's.
    static let shipped: DetectionSettings = {
        guard let settings = Settings.load(ConfigurationSources()).settings else {
            preconditionFailure("the shipped providers have errors")
        }
        return settings.routing.detection
    }()
}

/// The error that `decide` throws for a payload, or `nil`.
func refusal(_ platform: Platform, _ payload: String) throws -> PayloadError? {
    let delivery = Delivery(platform: platform, payload: try json(payload))
    do throws(PayloadError) {
        _ = try decide(delivery)
        return nil
    } catch {
        return error
    }
}

extension Reason {
    private static func braze(_ platform: Platform, _ conditions: [ProviderCondition]) -> Reason {
        .owner(ProviderMatch(TriedRule(.braze, platform, .init(order: 0, all: conditions))))
    }

    // The conditions of the shipped rule for Braze.
    static let brazeMarker = braze(.android, [.value(at: ["_ab"], .equals("true"))])
    static let brazeObject = braze(.ios, [.value(at: ["ab"], .nonEmptyObject)])
    static let brazeProbe = braze(.ios, [.value(at: ["appboy_uninstall_tracking"], .truthy)])
    static let brazeWebCampaign = braze(.web, [.every([.value(at: ["cid"], .string), .value(at: ["t"], .present)])])
    static let brazeWebCampaignAndContent = braze(
        .web, [.every([.value(at: ["cid"], .string), .value(at: ["a"], .present)])])
    static let brazeWebKey = braze(.web, [.keyBeginning(with: "ab_")])
}
