public import PushModel

/// A warning about a payload that is delivered anyway. The text is made on each access.
public enum Warning: Hashable, Sendable, CustomStringConvertible {
    /// A value of FCM's data that is not a string.
    case dataValueIsNoString(key: String, kind: String)
    /// An extra of FCM's intent that is not a string, so that FCM omits it from the data.
    case extraIsNoString(key: String, kind: String)
    /// `_ab` is `true` in another case.
    case brazeMarkerCase
    /// `extra` is not a JSON object in a string.
    case brazeExtraUnreadable
    /// A Braze payload next to a notification block.
    case brazeBesideNotification
    /// A Braze payload with a campaign that no user sees.
    case brazeCampaignNotDisplayed
    /// A Braze payload with an alert and `content-available`.
    case brazeAlertAndContentAvailable
    /// A payload without `aps`.
    case apsMissing
    /// `android_v2`, a preview.
    case androidPreview
    /// Data with a key that FCM reserves.
    case reservedKey(String)
    /// An Android payload whose data exceeds FCM's limit.
    case tooLarge(bytes: Int)
    /// A time to live beyond FCM's four weeks.
    case lifeTooLong(seconds: Int32)
    /// Braze's text and key-values exceed the limit of its API.
    case brazeTooLarge(bytes: Int)
    /// A link of a Braze notification or of its button that no app can open.
    case brazeLinkUnusable(button: String?)
    /// A button of a Braze payload with a type that the SDK does not know.
    case brazeButtonUnknown(id: String?)
    /// A parameter of the notification that FCM ignores, because it is not an integer in this range.
    case notificationValueUnused(name: String, range: String)
    /// Matching rules of several providers: the titles of the owner and of the others.
    case twoOwners(String, others: [String])
    /// A state that apps of this platform never have.
    case stateOfAnotherPlatform(AppState)
    /// A key of `aps` whose value has a type that Apple does not document.
    case apsValueOfAnotherType(APSKey, kind: String)
    /// A value that Apple does not document, of a key of `aps`.
    case apsValueOutOfRange(APSKey, range: String)
    /// A key in `aps`, its alert or its sound that Apple does not know, and the one that it resembles.
    case apsKeyMisspelt(String, String)
    /// A key in `aps` that Apple does not know, and that resembles none.
    case apsKeyForeign(String)
    /// `aps` with letters in capitals.
    case apsMisspelt(String)
    /// A header of the request to APNs that is a key of the payload.
    case headerInPayload(String)
    /// A key of `aps` that is beside `aps`, where iOS ignores it.
    case apsKeyOutside(String, APSKey)
    /// An image in an FCM v1 message that no service extension gets.
    case imageWithoutExtension
    /// A push for a Live Activity without a key that iOS needs.
    case liveActivityLacks(APSKey)
    /// A declarative web push without a key that browsers need.
    case declarationLacks(String)
    /// A push type, a topic, a priority and a payload that do not fit.
    case apnsMismatch(APNsMismatch)
    /// A key that is typical of another platform's payloads.
    case keyOfAnotherPlatform(String, Platform)
    /// A request that APNs would refuse.
    case refusedByAPNs(APNsRefusal)
    /// `locked` on a platform where only the state counts.
    case lockedHasNoEffect(Platform)
    /// `sdk` for a payload or a platform that it does not concern.
    case sdkHasNoEffect(Platform)
    /// `sdk` is `nil`: the app has no Braze instance, so Braze does not see the call.
    case sdkMissing
    /// `sdk` is `delayed`.
    case sdkDelayed

    public var description: String {
        switch self {
        case .dataValueIsNoString(let key, let kind):
            "data.\(key) is \(kind): FCM's data has texts alone, and FCM v1 refuses this; a provider's rule can see that the key is there, not its value"
        case .extraIsNoString(let key, let kind):
            "extras.\(key) is \(kind): FCM puts only strings into the data, so the app does not find it there"
        case .brazeMarkerCase:
            #"data._ab is "true" in another case: Braze's FCM service compares exactly and passes it on, its receiver does not"#
        case .brazeExtraUnreadable:
            "data.extra is not a JSON object in a string: Braze's SDK treats it as empty"
        case .brazeBesideNotification:
            "a Braze payload beside a notification block: in the background the system shows it, Braze never sees the payload, and the open is lost"
        case .brazeCampaignNotDisplayed:
            "silent, with a campaign: the user sees nothing to tap, but a tap that is reported counts as a direct open"
        case .brazeAlertAndContentAvailable:
            "an alert beside content-available: Braze documents its behavior as undefined; its SDK treats it as silent, and iOS shows it"
        case .apsMissing: "aps is missing: every real push has it"
        case .androidPreview: "android_v2 is a preview: dispatched as FCM does for clients that do not know it"
        case .reservedKey(let key):
            "data.\(key): FCM keeps this key for itself, and on a device no app finds it in the data"
        case .tooLarge(let bytes): "\(bytes) bytes of keys and values: FCM takes at most 4096"
        case .lifeTooLong(let seconds):
            "the time to live is \(seconds) s: FCM takes at most \(V1Duration.longestTTL) s (four weeks), and refuses the send"
        case .brazeTooLarge(let bytes):
            "data.a and data.extra have \(bytes) bytes together: Braze's API takes at most 4000"
        case .brazeLinkUnusable(let button):
            "the link of \(button.map { "button \($0)" } ?? "the notification") cannot be opened: it needs a scheme such as https: or myapp:, and neither white space nor control characters"
        case .brazeButtonUnknown(let id):
            "the type of button \(id ?? "without an id") is none of ab_open, ab_uri and ab_none: Braze's SDK reports a press on it, and does nothing else"
        case .notificationValueUnused(let name, let range):
            "gcm.n.\(name) is not a whole number \(range): FCM shows the notification without it"
        case .twoOwners(let owner, let others):
            "two owners: the rules of \(owner) and \(others.joined(separator: " and ")) match; \(owner) comes first and has the payload, the handlers of \(others.joined(separator: " and ")) do not get it"
        case .stateOfAnotherPlatform(.forceQuit): "force_quit is a state of iOS: treated as terminated"
        case .stateOfAnotherPlatform(.forceStopped): "force_stopped is a state of Android: treated as force_quit"
        case .stateOfAnotherPlatform(let state): "\(state.rawValue) is not a state of this platform"
        case .apsValueOfAnotherType(let key, let kind):
            "aps.\(key.rawValue) is \(kind) rather than \(key.type): \(key.readingOfAnotherType)"
        case .apsValueOutOfRange(let key, let range):
            "aps.\(key.rawValue) is none of the values that Apple documents: \(range)"
        case .apsKeyMisspelt(let name, let key):
            "aps.\(name) is no key of Apple's, and iOS ignores it: the key is \(key)"
        case .apsKeyForeign(let name):
            "aps.\(name) is no key of Apple's, and iOS ignores it: keys of the app's own stand beside aps"
        case .apsMisspelt(let name): "\(name) is not aps, the key that every real push has: iOS ignores it"
        case .headerInPayload(let name):
            "\(name) is a header of the request to APNs: in the payload nothing reads it"
        case .apsKeyOutside(let name, let key):
            "\(name) is beside aps, where iOS ignores it: Apple's key is aps.\(key.rawValue)"
        case .imageWithoutExtension:
            "the message has an image, and aps.mutable-content is not 1: iOS shows no image, for only a service extension of the app can add it"
        case .liveActivityLacks(let key):
            "aps has no \(key.rawValue), which a push for a Live Activity needs: iOS changes nothing"
        case .declarationLacks(let key):
            "notification has no \(key), which a declarative web push needs: every browser leaves it to the worker"
        case .apnsMismatch(let mismatch): mismatch.description
        case .keyOfAnotherPlatform(let key, let platform):
            "\(key) belongs to payloads for \(platform.name), and this looks like one: is the platform right?"
        case .refusedByAPNs(let refusal): refusal.description
        case .lockedHasNoEffect(let platform):
            "locked has no effect on \(platform.name); only state counts: an app behind the lock screen is in the background"
        case .sdkHasNoEffect(.ios): "sdk has no effect: the payload is not Braze's"
        case .sdkHasNoEffect(let platform): "sdk has no effect on \(platform.name): only iOS apps have it"
        case .sdkMissing:
            "sdk is nil: the app has no Braze instance when the callback runs, so Braze never sees the call; a tap that comes before it has one is lost, too"
        case .sdkDelayed:
            "sdk is delayed: prepareForDelayedInitialization queues the push's analytics until the app makes its Braze instance"
        }
    }
}

extension Warning {
    /// Whether it is about the data that FCM takes: ADM and Huawei's push kit have rules of their own.
    var isOfFCM: Bool {
        switch self {
        case .reservedKey, .tooLarge, .dataValueIsNoString: true
        default: false
        }
    }

    /// The name of its rule, without anything of a payload; for counts.
    public var rule: String {
        switch self {
        case .dataValueIsNoString: "data_value_no_string"
        case .extraIsNoString: "extra_no_string"
        case .brazeMarkerCase: "braze_marker_case"
        case .brazeExtraUnreadable: "braze_extra_unreadable"
        case .brazeBesideNotification: "braze_beside_notification"
        case .brazeCampaignNotDisplayed: "braze_campaign_not_displayed"
        case .brazeAlertAndContentAvailable: "braze_alert_and_content_available"
        case .apsMissing: "aps_missing"
        case .androidPreview: "android_preview"
        case .reservedKey: "reserved_key"
        case .tooLarge: "too_large"
        case .lifeTooLong: "life_too_long"
        case .brazeTooLarge: "braze_too_large"
        case .brazeLinkUnusable: "braze_link_unusable"
        case .brazeButtonUnknown: "braze_button_unknown"
        case .notificationValueUnused: "notification_value_unused"
        case .twoOwners: "two_owners"
        case .stateOfAnotherPlatform: "state_of_another_platform"
        case .apsValueOfAnotherType: "aps_value_of_another_type"
        case .apsValueOutOfRange: "aps_value_out_of_range"
        case .apsKeyMisspelt: "aps_key_misspelt"
        case .apsKeyForeign: "aps_key_foreign"
        case .apsKeyOutside: "aps_key_outside"
        case .apsMisspelt: "aps_misspelt"
        case .headerInPayload: "header_in_payload"
        case .imageWithoutExtension: "image_without_extension"
        case .liveActivityLacks: "live_activity_lacks"
        case .declarationLacks: "declaration_lacks"
        case .apnsMismatch: "apns_mismatch"
        case .keyOfAnotherPlatform: "key_of_another_platform"
        case .refusedByAPNs: "refused_by_apns"
        case .lockedHasNoEffect: "locked_has_no_effect"
        case .sdkHasNoEffect: "sdk_has_no_effect"
        case .sdkMissing: "sdk_missing"
        case .sdkDelayed: "sdk_delayed"
        }
    }
}

/// The warnings about accepted payloads since the start, by rule.
///
/// To look for warnings costs as much as to route a push, so only some pushes are looked at.
public struct WarningCounts: Sendable {
    /// The warnings of a rule.
    public struct OfRule: Hashable, Sendable {
        /// Their number.
        public var count = 0
        /// The last push that has one.
        public var last: SequenceNumber
    }

    /// The most pushes that the router checks for warnings in one burst, and the number that each later second adds.
    static let (lookedAtOnce, lookedAtEachSecond) = (50, 2)

    /// The number of pushes that were looked at.
    public private(set) var lookedAt = 0
    /// The number of warnings, one for each rule and push.
    public private(set) var total = 0
    /// The warnings of each rule that has any.
    public private(set) var byRule: [String: OfRule] = [:]
    /// The number of pushes that may be looked at, and when it last grew.
    private var allowed = lookedAtOnce
    private var allowedSince = Instant(nanoseconds: 0)

    /// No warning yet.
    public init() {}

    mutating func note(_ decision: Decision, of seq: SequenceNumber, at now: Instant) {
        // In whole numbers: the parts of a Duration take a division of 128 bits, for each delivery.
        let seconds = (now.nanoseconds - allowedSince.nanoseconds) / 1_000_000_000
        if seconds > 0 {
            let more = Int(min(seconds, Int64(Self.lookedAtOnce))) * Self.lookedAtEachSecond
            allowed = min(allowed + more, Self.lookedAtOnce)
            allowedSince = now
        }
        guard allowed > 0 else { return }
        allowed -= 1
        lookedAt += 1
        for rule in Set(decision.warnings.map(\.rule)) {
            byRule[rule, default: OfRule(last: seq)].count += 1
            byRule[rule]?.last = seq
            total += 1
        }
    }
}

/// A fact about pushes of a kind that surprises people, though nothing is wrong with the payload.
public enum Remark: Hashable, Sendable, CaseIterable, CustomStringConvertible {
    /// A message of normal priority over FCM.
    case normalPriority
    /// A message that FCM delivered at a lower priority than the sender asked for.
    case loweredPriority
    /// A critical or a time-sensitive alert.
    case entitlement
    /// Data beside a notification that FCM shows.
    case dataWithTap
    /// A notification that FCM shows, with an action for a tap.
    case tapByAction
    /// A push that wakes an iOS app.
    case silentOnApple
    /// A push to a browser with no text to show.
    case silentOnWeb
    /// A web push of plain text, or one without a body.
    case textOfWebPush, emptyWebPush
    /// A notification of FCM's worker on which a click opens nothing.
    case clickWithoutLink
    /// A push for Angular's service worker: the first with an action for a click, the second without one.
    case clickInAngular, clickInAngularUnknown
    /// A test push of CleverTap.
    case cleverTapTest

    // Source: Firebase, "Set and manage message priority"; Apple, "Pushing background updates to your App"; MDN,
    // PushManager.subscribe (userVisibleOnly), and Chrome's own notice, "This site has been updated in the background";
    // W3C, Push API, PushEvent and PushMessageData; firebase-js-sdk, sw-listeners.ts
    // (onNotificationClick); firebase-android-sdk, CommonNotificationBuilder (createContentIntent, createTargetIntent);
    // Angular, "Push notifications" (onActionClick); CleverTap/clevertap-react-native#364 for the id 0_0.
    public var description: String {
        switch self {
        case .normalPriority:
            "the message has normal priority: while the device is in Doze, FCM holds it until the next maintenance window; android.priority HIGH is delivered at once"
        case .loweredPriority:
            "the sender asked for high priority and FCM delivered it at normal: FCM lowers it for an app whose high-priority messages show nothing"
        case .entitlement:
            "a critical or time-sensitive alert needs an entitlement of the app: without it iOS shows it as any other alert"
        case .dataWithTap:
            "the messaging service does not get the data: FCM puts it into the extras of the activity that a tap starts; a message without a notification block calls the service"
        case .tapByAction:
            "a tap starts the activity whose intent filter has the notification's click_action: in an app without such an activity the tap opens nothing"
        case .silentOnApple:
            "iOS decides whether a silent push wakes the app: Apple advises not more than two or three an hour, and with Background App Refresh off or in Low Power Mode it may wait or be dropped"
        case .textOfWebPush:
            "an object with nothing but text stands for a web push of plain text, too: the worker gets that by event.data.text(), and event.data.json() throws a SyntaxError unless it is JSON"
        case .emptyWebPush:
            "an empty object stands for a web push without a body, too: event.data is null there, and event.data.json() throws a TypeError"
        case .clickWithoutLink:
            "FCM's worker shows the notification, and a click on it opens nothing: a page to open is webpush.fcm_options.link"
        case .clickInAngular:
            "Angular's service worker (ngsw) shows notification itself; a click or a button does what notification.data.onActionClick has for it (default, or the action), and its client code gets notificationClicks"
        case .clickInAngularUnknown:
            "a service worker of Angular (ngsw) shows notification itself, and a click opens nothing without notification.data.onActionClick; any other worker shows what its code shows"
        case .cleverTapTest:
            "the campaign's id is 0_0, that of a test push: CleverTap counts no impression of it"
        case .silentOnWeb:
            "browsers take only pushes that show something (userVisibleOnly): a worker that shows no notification makes the browser show one of its own"
        }
    }
}

extension Decision {
    /// The remarks on the delivery. Computed on each access.
    public var remarks: [Remark] {
        var remarks: [Remark] = []
        if transport == .fcm, outcome == nil, !callbacks.contains(where: \.isBroadcast) {
            if originalPriority == .normal { remarks.append(.normalPriority) }
            if originalPriority == .high, deliveredPriority == .normal { remarks.append(.loweredPriority) }
        }
        if transport == .fcm, outcome == .shownBySystem, braze == nil, let message = keys.payload as? AndroidPayload {
            if message.hasData { remarks.append(.dataWithTap) }
            if message.remoteMessage?.notification?.contains(where: { $0.name == "click_action" && !$0.text.isEmpty })
                == true
            {
                remarks.append(.tapByAction)
            }
        }
        if (keys.payload as? ApplePayload)?.needsEntitlement == true { remarks.append(.entitlement) }
        let isWaking = reasons.contains { $0 == .contentAvailable || $0 == .contentAvailableLaunches }
        if isWaking, !callbacks.contains(.willPresent) { remarks.append(.silentOnApple) }
        if outcome == nil, let web = keys.payload as? WebPayload {
            if web.isText { remarks.append(.textOfWebPush) }
            if web.isEmpty { remarks.append(.emptyWebPush) }
            if !web.hasText { remarks.append(.silentOnWeb) }
            if web.hasFCMNotification, !web.hasLink { remarks.append(.clickWithoutLink) }
            if web.isForAngular, provider == nil {
                remarks.append(web.hasAngularClick ? .clickInAngular : .clickInAngularUnknown)
            }
        }
        if ["W$id", "wzrk_id"].contains(where: { keys.payload[$0]?.string == "0_0" }) {
            remarks.append(.cleverTapTest)
        }
        return remarks
    }
}
