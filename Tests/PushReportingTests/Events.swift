import TestSupport

@testable import PushModel

/// An event with some fields set, and the others as of an ordinary push.
func event(
    _ kind: AnalyticsEvent.Kind, _ delivery: Int64 = 1, at time: Int64 = 0, by seq: Int64? = nil,
    campaign: String? = "summer", user: String? = "anna", device: String? = "pixel", app: String? = "shop",
    platform: Platform = .android, action: ButtonAction? = nil, button: String? = nil, duration: Duration? = nil
) -> AnalyticsEvent {
    AnalyticsEvent(
        id: UUID128(high: UInt64(delivery), low: UInt64(time)), time: time,
        seq: SequenceNumber(seq ?? delivery), delivery: SequenceNumber(delivery), externalUserID: user,
        deviceID: device, appID: app, platform: platform,
        content: .init(
            kind, campaignID: campaign, messageID: "m\(delivery)",
            button: button.map { AnalyticsEvent.Button(id: $0, action: action) }, duration: duration))
}

/// The result of an interaction with a delivery.
func interaction(
    _ verdict: Interaction.Verdict, _ delivery: Int64? = 1, at milliseconds: Int64 = 0
) -> InteractionRow {
    InteractionRow(
        cause: SequenceNumber(99), delivery: delivery.map { SequenceNumber($0) }, verdict: verdict, button: nil,
        buttonAction: nil, at: WallTime(milliseconds: milliseconds))
}
