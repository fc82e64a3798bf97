import Testing

@testable import PushModel
@testable import PushRouter
@testable import PushViews

@Suite("Reasons and warnings")
struct ExplanationTests {
    @Test("name in order the provider, the kind and the behavior of the platform")
    func areInOrder() throws {
        let android = try decision(
            .android, #"{"notification":{"title":"x"},"data":{"_ab":"true","t":"T","a":"A","cid":"c"}}"#)
        #expect(
            android.reasons.map(\.description) == [
                #"data._ab is exactly "true": the payload is Braze's"#,
                "data has both t and a, title and body: Braze's SDK shows a notification",
                "the app is in the background and the message has a notification block: "
                    + "the system shows it, and the messaging service does not run; "
                    + "a receiver beside it (React Native Firebase, FlutterFire) gets the message",
                "the system shows the notification block instead of Braze's push: "
                    + "Braze's SDK never sees the payload, and its open is lost",
            ])
        let ios = try decision(
            .ios, #"{"aps":{"alert":"x","content-available":1,"mutable-content":1},"ab":{"c":null}}"#, state: .forceQuit
        )
        #expect(
            ios.reasons == [
                .brazeObject, .brazeContentAvailable, .noCampaign, .mutableContent, .contentAvailableAfterForceQuit,
                .alertShownToo,
            ])
        let probe = try decision(.ios, #"{"aps":{},"appboy_uninstall_tracking":true}"#)
        #expect(probe.reasons == [.brazeProbe, .brazeAppleUninstallTracking, .nothingForTheApp])
    }

    private func shown(
        _ platform: Platform, _ payload: String, state: AppState = .background
    ) throws -> ShownNotification {
        ShownNotification(
            try decision(platform, payload, state: state), try json(payload), notifications: .allowed)
    }

    @Test("say who shows what, and no more than that party shows")
    func shownParts() throws {
        // iOS shows an image only if a service extension adds it.
        let image = #"{"message":{"token":"t","notification":{"title":"T","image":"https://x/i"}"#
        #expect(try shown(.ios, image + "}}").content?.image == nil)
        #expect(try decision(.ios, image + "}}").warnings == [.imageWithoutExtension])
        let mutable = image + #","apns":{"payload":{"aps":{"mutable-content":1}}}}}"#
        #expect(try shown(.ios, mutable).content?.image == "https://x/i")
        #expect(try decision(.ios, mutable).warnings == [])
        // Android shows the block alone, and expo-notifications the message.
        #expect(
            try shown(.android, #"{"notification":{"title":"T"},"data":{"image":"https://x/i"}}"#).content?.image == nil
        )
        let expo = try shown(
            .android,
            #"{"data":{"title":"T","message":"M","body":"{\"k\":1}","experienceId":"@a/b","scopeKey":"@a/b"}}"#)
        #expect(expo.by == .sdk && expo.content?.body == "M")
        // In the background Android shows the block alone, and in the foreground Braze's SDK its own keys alone.
        let both = #"{"notification":{"title":"N"},"data":{"_ab":"true","cid":"c","t":"T","a":"A"}}"#
        #expect(try shown(.android, both).text == #"the system shows it: "N""#)
        #expect(try shown(.android, both, state: .foreground).text == #"the SDK shows it: "T", "A""#)
        let body = #"{"notification":{"body":"N"},"data":{"title":"T","body":"B"}}"#
        #expect(try shown(.android, body).text == #"the system shows it: "N""#)
        let key = #"{"notification":{"title_loc_key":"k"},"data":{"title":"T"}}"#
        #expect(try shown(.android, key).by == .system && shown(.android, key).content == nil)
        // The worker of an app shows a message that has data alone, and FCM's worker one with a notification.
        #expect(try shown(.web, #"{"data":{"title":"T","body":"B"}}"#).text == #"if your code shows it: "T", "B""#)
        #expect(try shown(.web, #"{"message":{"token":"t","notification":{"title":"T"}}}"#).by == .sdk)
    }

    @Test("take an event in aps for a Live Activity only if it is one of Apple's")
    func eventOfAnApp() throws {
        #expect(try decision(.ios, #"{"aps":{"event":"mine"}}"#).reasons.last == .nothingForTheApp)
        #expect(try decision(.ios, #"{"aps":{"event":"end","timestamp":1}}"#).reasons.last == .liveActivity)
    }

    @Test("do not claim a notification is shown if notifications are denied")
    func denied() throws {
        let reasons = try decision(.android, #"{"_ab":"true","t":"T","a":"A","cid":"c"}"#, notifications: .denied)
            .reasons
        #expect(reasons == [.brazeMarker, .brazeNotificationDenied, .dataMessage])
    }

    @Test("do not report the exact marker as one in another case if Braze is masked")
    func maskedBraze() throws {
        let masked = DetectionSettings(providers: [])
        let exact = Delivery(platform: .android, payload: try json(#"{"_ab":"true"}"#))
        #expect(try decide(exact, settings: masked).warnings == [])
        let upper = Delivery(platform: .android, payload: try json(#"{"_ab":"TRUE"}"#))
        #expect(try decide(upper, settings: masked).warnings == [.brazeMarkerCase])
    }

    @Test("do not list Braze's uninstall test among the dashboard's key-values")
    func uninstallTrackingIsNoKeyValue() throws {
        let ios = try decision(.ios, #"{"aps":{},"appboy_uninstall_tracking":true,"k":"v"}"#)
        #expect(ios.keys.keyValues.map(\.key) == ["k"])
        let extra = #"{\"appboy_uninstall_tracking\":\"true\",\"k\":\"v\"}"#
        let android = try decision(.android, #"{"_ab":"true","extra":"\#(extra)"}"#)
        #expect(android.keys.keyValues.map(\.key) == ["k"])
    }

    @Test(
        "warn of the faults that a reviewer would see",
        arguments: [
            (Platform.android, AppState.background, #"{"_ab":"true","t":"T","a":"A"}"#, []),
            (.android, .forceQuit, #"{"k":"v"}"#, [.stateOfAnotherPlatform(.forceQuit)]),
            (.android, .background, #"{"_ab":"TRUE"}"#, [.brazeMarkerCase]),
            (.android, .background, #"{"_ab":"true","extra":"no json"}"#, [.brazeExtraUnreadable]),
            (.android, .background, #"{"_ab":"true","extra":"[]"}"#, [.brazeExtraUnreadable]),
            (.android, .background, #"{"extra":"no json"}"#, []),
            (.android, .background, #"{"itbl":{}}"#, [.dataValueIsNoString(key: "itbl", kind: "an object")]),
            (.android, .background, #"{"extras":{"google.ttl":5}}"#, []),
            (
                .android, .background, #"{"aps":{"alert":"x"}}"#,
                [.keyOfAnotherPlatform("aps", .ios), .dataValueIsNoString(key: "aps", kind: "an object")]
            ),
            (.android, .background, #"{"extras":{},"userInfo":{"aps":{}}}"#, [.keyOfAnotherPlatform("aps", .ios)]),
            (
                .android, .background, #"{"notification":{"title":"T","actions":[]}}"#,
                [.keyOfAnotherPlatform("notification.actions", .web)]
            ),
            (
                .android, .background, #"{"data":{"from":"1","google.x":"2"}}"#,
                [.reservedKey("from"), .reservedKey("google.x")]
            ),
            (
                .android, .background, #"{"message":{"token":"t","data":{"collapse_key":"c"}}}"#,
                [.reservedKey("collapse_key")]
            ),
            (
                .android, .background,
                #"{"extras":{"gcm.n.e":"1","gcm.n.visibility":"2","gcm.notification.notification_priority":"high"}}"#,
                [
                    .notificationValueUnused(name: "notification_priority", range: "from -2 to 2"),
                    .notificationValueUnused(name: "visibility", range: "from -1 to 1"),
                ]
            ),
            (
                .android, .background,
                #"{"extras":{"gcm.n.e":"1","gcm.n.visibility":"-1","gcm.n.notification_count":"0"}}"#, []
            ),
            (.android, .background, #"{"extras":{"gcm.n.visibility":"2"}}"#, []),
            (.android, .background, #"{"message":{"token":"t","android_v2":{}}}"#, [.androidPreview]),
            (
                .android, .background, #"{"extras":{"gcm.n.e":"1","_ab":"true"}}"#,
                [.brazeBesideNotification]
            ),
            (
                .android, .background, #"{"_ab":"true","t":"T","a":"A","cid":"c","uri":"sh op://x"}"#,
                [.brazeLinkUnusable(button: nil)]
            ),
            (
                .android, .background, #"{"_ab":"true","t":"T","a":"A","cid":"c","uri":"/shop"}"#,
                [.brazeLinkUnusable(button: nil)]
            ),
            (.android, .background, #"{"_ab":"true","t":"T","a":"A","cid":"c","uri":"shop://x?a=b&c"}"#, []),
            (
                .android, .background,
                #"{"_ab":"true","t":"T","a":"A","cid":"c","ab_a0_a":"ab_foo","ab_a0_id":"x","ab_a1_a":"ab_uri","ab_a1_id":"y","ab_a1_uri":"{{link}}"}"#,
                [.brazeLinkUnusable(button: "y"), .brazeButtonUnknown(id: "x")]
            ),
            // Two buttons without an id.
            (
                .android, .background, #"{"_ab":"true","t":"T","a":"A","ab_a0_a":"x","ab_a1_a":"y"}"#,
                [.brazeButtonUnknown(id: nil)]
            ),
            (.web, .background, #"{"cid":"c","t":"T","u":"/shop"}"#, []),
            (
                .ios, .background, #"{"aps":{"alert":"x"},"ab":{"c":"c"},"ab_uri":"shop"}"#,
                [.brazeLinkUnusable(button: nil)]
            ),
            (.ios, .background, #"{"aps":{"alert":"x"}}"#, []),
            (.ios, .forceStopped, #"{"aps":{"alert":"x"}}"#, [.stateOfAnotherPlatform(.forceStopped)]),
            (.ios, .background, #"{"k":"v"}"#, [.apsMissing]),
            (
                .ios, .background, #"{"aps":{"alert":"x","content-available":1},"ab":{"c":"c"}}"#,
                [.brazeAlertAndContentAvailable]
            ),
            (.ios, .background, #"{"aps":{"alert":"x","content-available":1}}"#, []),
            (.web, .background, #"{"k":"v"}"#, []),
            (.web, .forceQuit, #"{"k":"v"}"#, [.stateOfAnotherPlatform(.forceQuit)]),
        ] as [(Platform, AppState, String, [Warning])])
    func warn(_ platform: Platform, _ state: AppState, _ payload: String, _ warnings: [Warning]) throws {
        #expect(try decision(platform, payload, state: state).warnings == warnings)
    }

    @Test("name the key and the type of a data value that is no string")
    func nameOddValue() throws {
        #expect(
            try decision(.android, #"{"badge":3}"#).warnings.map(\.description) == [
                "data.badge is a number: FCM's data has texts alone, and FCM v1 refuses this; a provider's rule can see that the key is there, not its value"
            ])
    }

    @Test("of a link name each character that no URI has, and no other")
    func charactersOfLink() throws {
        // RFC 3986, section 2: unreserved, gen-delims, sub-delims and the percent sign.
        let valid = Set(
            "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~:/?#[]@!$&'()*+,;=%".unicodeScalars)
        for scalar in (1...0x7F).map({ Unicode.Scalar(UInt8($0)) }) {
            let link = "shop://x\\u" + ("0000" + String(scalar.value, radix: 16)).suffix(4) + "y"
            let warnings = try decision(
                .android, #"{"_ab":"true","t":"T","a":"A","cid":"c","uri":"\#(link)"}"#
            ).warnings
            #expect(warnings == (valid.contains(scalar) ? [] : [.brazeLinkUnusable(button: nil)]), "\(link)")
        }
    }
}
