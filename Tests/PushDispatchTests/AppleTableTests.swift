import TestSupport
import Testing

@testable import PushModel
@testable import PushRouter
@testable import PushViews

/// The behavior of iOS in the four states, one word per state: `E` the service extension, `P` willPresent, `R`
/// didReceiveRemoteNotification, in this order; `S` shown by the system, `N` not woken, `-` swallowed.
struct Row: Sendable, CustomTestStringConvertible {
    var name: String
    var words: [String]

    /// - Parameter line: a name, and the words for foreground, background, terminated and force-quit.
    init(_ line: String) {
        let parts = line.split(separator: " ").map(String.init)
        name = parts[0]
        words = Array(parts.dropFirst())
    }

    var testDescription: String { name }

    static let states: [AppState] = [.foreground, .background, .terminated, .forceQuit]

    static func word(_ decision: Decision) -> String {
        switch decision.outcome {
        case .shownBySystem: return "S"
        case .notWoken: return "N"
        case .swallowed: return "-"
        default: break
        }
        let letters: [Callback: String] = [
            .serviceExtension: "E", .willPresent: "P", .didReceiveRemoteNotification: "R",
        ]
        return decision.callbacks.map { letters[$0] ?? "?" }.joined()
    }
}

@Suite("The table of iOS callbacks")
struct AppleTableTests {
    // Source: Apple's documentation, written out by hand. The extension runs in the foreground too: Apple's documentation of
    // UNNotificationServiceExtension has two conditions, an alert and mutable-content, and the state is neither.
    @Test(
        "holds for every content, content-available and mutable-content in every state where notifications are allowed",
        arguments: [
            "alert     P   S  S  S", "alert+c   PR  R  R  S", "alert+m   P   E  E  E", "alert+c+m PR  ER ER E",
            "sound     P   S  S  S", "sound+c   PR  R  R  S", "sound+m   P   S  S  S", "sound+c+m PR  R  R  S",
            "badge     P   S  S  S", "badge+c   PR  R  R  S", "badge+m   P   S  S  S", "badge+c+m PR  R  R  S",
            "none      -   -  -  -", "none+c    R   R  R  N", "none+m    -   -  -  -", "none+c+m  R   R  R  N",
        ].map(Row.init))
    func holdsWhereAllowed(_ row: Row) throws { try check(row, .allowed) }

    // Source: UNNotificationSettings.authorizationStatus: if denied, the system does not deliver notifications to the
    // app. A data push wakes the app without permission.
    @Test(
        "the iOS callbacks are as in the table when notifications are denied",
        arguments: [
            "alert     -   -  -  -", "alert+c   R   R  R  N", "alert+m   -   -  -  -", "alert+c+m R   R  R  N",
            "sound     -   -  -  -", "sound+c   R   R  R  N", "sound+m   -   -  -  -", "sound+c+m R   R  R  N",
            "badge     -   -  -  -", "badge+c   R   R  R  N", "badge+m   -   -  -  -", "badge+c+m R   R  R  N",
            "none      -   -  -  -", "none+c    R   R  R  N", "none+m    -   -  -  -", "none+c+m  R   R  R  N",
        ].map(Row.init))
    func holdsWhereDenied(_ row: Row) throws { try check(row, .denied) }

    private func check(_ row: Row, _ notifications: NotificationPermission) throws {
        let members = row.name.split(separator: "+").compactMap { part -> String? in
            switch part {
            case "alert": #""alert":{"title":"x"}"#
            case "sound": #""sound":"default""#
            case "badge": #""badge":1"#
            case "c": #""content-available":1"#
            case "m": #""mutable-content":1"#
            default: nil
            }
        }
        let payload = #"{"aps":{\#(members.joined(separator: ","))}}"#
        for (state, word) in zip(Row.states, row.words) {
            for locked in [false, true] {
                let decision = try decision(.ios, payload, state: state, locked: locked, notifications: notifications)
                #expect(Row.word(decision) == word, "\(state)")
                #expect(decision.warnings.contains(.lockedHasNoEffect(.ios)) == locked)
            }
        }
        // A state of Android stands for the nearest one of iOS.
        let stopped = try decision(.ios, payload, state: .forceStopped, notifications: notifications)
        #expect(Row.word(stopped) == row.words[3])
        #expect(stopped.warnings == [.stateOfAnotherPlatform(.forceStopped)])
    }

    // Sources: ORIGIN.md beside the files.
    @Test(
        "the iOS callbacks are as in the table for payloads of other projects",
        arguments: [
            "fcm-apns/apns-alert-string                     P   S  S  S",
            "fcm-apns/apns-badge-zero                       P   S  S  S",
            "fcm-apns/apns-category                         -   -  -  -",
            "fcm-apns/apns-combined                         P   S  S  S",
            "fcm-apns/apns-content-available                R   R  R  N",
            "fcm-apns/apns-custom-map                       -   -  -  -",
            "fcm-apns/apns-empty-aps                        -   -  -  -",
            "fcm-apns/apns-liveactivity-content-state       -   -  -  -",
            "fcm-apns/apns-mdm                              -   -  -  -",
            "fcm-apns/apns-mutable-content                  -   -  -  -",
            "fcm-apns/apns-sound-dict                       P   S  S  S",
            "fcm-apns/apns-time-sensitive                   -   -  -  -",
            "fcm-apns/apnsfile-clevertap-watch-sample       P   S  S  S",
            "fcm-apns/apnsfile-firebase-ios-watch-sample    P   S  S  S",
            "fcm-apns/fcmv1-apns-alert-full                 P   S  S  S",
            "fcm-apns/fcmv1-apns-aps-full                   PR  ER ER E",
            "fcm-apns/fcmv1-apns-config                     -   -  -  -",
            "fcm-apns/fcmv1-apns-critical-sound             P   S  S  S",
            "fcm-apns/fcmv1-apns-payload-custom             P   S  S  S",
            "fcm-apns/provider-clevertap-ios-wzrk           P   S  S  S",
            "fcm-apns/provider-klaviyo-ios-buttons          P   E  E  E",
            "braze-ios/action-category                      P   S  S  S",
            "braze-ios/content-available-and-alert          PR  R  R  S",
            "braze-ios/content-card                         R   R  R  N",
            "braze-ios/docs-minimal-log                     P   S  S  S",
            "braze-ios/docs-structure                       P   E  E  E",
            "braze-ios/near-ab-string                       P   S  S  S",
            "braze-ios/near-empty-ab                        P   S  S  S",
            "braze-ios/silent-content-available             R   R  R  N",
            "braze-ios/test-triggers                        P   S  S  S",
            "braze-ios/uninstall-tracking                   R   R  R  N",
            "braze-ios/unity-doc                            P   S  S  S",
            "other/batch-apns                               -   -  -  -",
            "other/firebase-apns-watch                      P   S  S  S",
        ].map(Row.init))
    func holdsForFixtures(_ row: Row) throws {
        let payload = try JSONDocument(scanning: Fixture.bytes("payloads/\(row.name).json")).root
        for (state, word) in zip(Row.states, row.words) {
            let decision = try decide(Delivery(platform: .ios, state: state, payload: payload))
            #expect(Row.word(decision) == word, "\(state)")
            #expect(decision.keys.data("WatchKit Simulator Actions") == nil)
        }
    }

    @Test("reports, when both run, that the order of willPresent and didReceiveRemoteNotification is not documented")
    func saysThatOrderIsUnknown() throws {
        for state in AppState.allCases {
            let decision = try decision(.ios, #"{"aps":{"alert":"x","content-available":1}}"#, state: state)
            #expect(decision.reasons.contains(.orderOfCallbacksUnknown) == (state == .foreground))
        }
    }

    @Test("reports that a silent push launches an app that is not running")
    func saysThatItLaunches() throws {
        let silent = #"{"aps":{"content-available":1}}"#
        #expect(try decision(.ios, silent, state: .terminated).reasons.last == .contentAvailableLaunches)
        #expect(try decision(.ios, silent, state: .background).reasons.last == .contentAvailable)
    }

    // Source: Apple's "Starting and updating Live Activities with ActivityKit push notifications"; MDM protocol.
    @Test("names pushes that do not reach the app")
    func namesSystem() throws {
        let start = #"{"aps":{"event":"start","content-state":{},"alert":{"title":"x"},"mutable-content":1}}"#
        for state in AppState.allCases {
            #expect(try decision(.ios, start, state: state).outcome == .shownBySystem)
            #expect(try decision(.ios, #"{"aps":{"event":"end"}}"#, state: state).reasons.last == .liveActivity)
            #expect(try decision(.ios, #"{"mdm":"id"}"#, state: state).reasons.last == .deviceManagement)
        }
        // Here mdm is a key of the app's own.
        #expect(try decision(.ios, #"{"aps":{"alert":"x"},"mdm":"id"}"#).outcome == .shownBySystem)
    }
}
