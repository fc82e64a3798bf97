import PushModel

// Source: Apple's documentation of PushKit (PKPushRegistryDelegate), Push to Talk (PTChannelManagerDelegate), Core Location
// (CLLocationPushServiceExtension), File Provider (NSFileProviderManager) and WidgetKit.

extension APNsPushType {
    /// Whether code other than the app delegate and the notification delegate receives pushes of this type.
    var isForOtherCode: Bool {
        switch self {
        // The delegates receive the first two; the other two have reasons of their own.
        case .alert, .background, .liveactivity, .mdm: false
        case .voip, .complication, .pushtotalk, .location, .fileprovider, .controls, .widgets: true
        }
    }

    /// The receiver of pushes of this type, for people.
    var receiver: String {
        switch self {
        case .voip:
            "apns-push-type is voip: PushKit calls pushRegistry(_:didReceiveIncomingPushWith:), which must report a call; the notification delegate is not called"
        case .complication:
            "apns-push-type is complication: PushKit calls pushRegistry(_:didReceiveIncomingPushWith:) of the watch app; the notification delegate is not called"
        case .pushtotalk:
            "apns-push-type is pushtotalk: iOS calls incomingPushResult(channelManager:channelUUID:pushPayload:) of the PTChannelManagerDelegate; the notification delegate is not called"
        case .location:
            "apns-push-type is location: iOS runs the app's CLLocationPushServiceExtension; the notification delegate is not called"
        case .fileprovider:
            "apns-push-type is fileprovider: iOS signals the app's File Provider extension; the notification delegate is not called"
        case .controls, .widgets:
            "apns-push-type is \(rawValue): WidgetKit loads the timelines or controls anew; the notification delegate is not called"
        case .alert, .background, .liveactivity, .mdm:
            "apns-push-type is \(rawValue)"
        }
    }

    /// The reason code of this type.
    var code: ReasonCode {
        switch self {
        case .voip, .complication: .pushKit
        case .pushtotalk: .pushToTalk
        case .location: .locationExtension
        case .fileprovider: .fileProvider
        case .controls, .widgets: .widgetsAndControls
        case .liveactivity: .liveActivity
        case .mdm: .deviceManagement
        case .alert: .alertShownBySystem
        case .background: .contentAvailable
        }
    }
}
