import TestSupport
import Testing

@testable import PushModel
@testable import PushRouter
@testable import PushViews

@Suite("Unexpected payloads on iOS")
struct AppleBadInputTests {
    // Source: Apple's "Generating a remote notification", table 1; NSNumber and NSString intValue.
    @Test(
        "are read by the types that Apple documents, with a warning about every other type",
        arguments: [
            (#""alert":5"#, APSKey.alert, "a number", "-"),
            (#""alert":["x"]"#, .alert, "an array", "-"),
            (#""alert":null"#, .alert, "null", "-"),
            (#""badge":"2""#, .badge, "a string", "-"),
            (#""badge":true"#, .badge, "a boolean", "S"),
            (#""sound":1"#, .sound, "a number", "-"),
            (#""content-available":"1""#, .contentAvailable, "a string", "R"),
            (#""content-available":true"#, .contentAvailable, "a boolean", "R"),
            (#""content-available":"yes""#, .contentAvailable, "a string", "-"),
            (#""content-available":{}"#, .contentAvailable, "an object", "-"),
            (#""alert":"x","mutable-content":"1""#, .mutableContent, "a string", "E"),
            (#""alert":"x","mutable-content":[1]"#, .mutableContent, "an array", "S"),
            (#""alert":"x","category":1"#, .category, "a number", "S"),
            (#""alert":"x","thread-id":1"#, .threadID, "a number", "S"),
            (#""alert":"x","target-content-id":1"#, .targetContentID, "a number", "S"),
            (#""alert":"x","interruption-level":1"#, .interruptionLevel, "a number", "S"),
            (#""alert":"x","relevance-score":"1""#, .relevanceScore, "a string", "S"),
            (#""alert":"x","filter-criteria":{}"#, .filterCriteria, "an object", "S"),
        ])
    func wrongTypes(_ members: String, _ key: APSKey, _ kind: String, _ word: String) throws {
        let decision = try decision(.ios, #"{"aps":{\#(members)}}"#)
        #expect(decision.warnings == [.apsValueOfAnotherType(key, kind: kind)])
        #expect(Row.word(decision) == word)
    }

    @Test(
        "give a warning with the key, its type and the effect",
        arguments: [
            (
                #""alert":5"#,
                "aps.alert is a number rather than a string or an object: there is no alert"
            ),
            (
                #""badge":"2""#,
                "aps.badge is a string rather than a number: true and false are the numbers 1 and 0; any other value is not a badge"
            ),
            (
                #""content-available":"1""#,
                "aps.content-available is a string rather than a number: "
                    + #"read as Foundation's intValue reads it: "1" and true are 1, no object is"#
            ),
            (#""category":1"#, "aps.category is a number rather than a string: treated as absent"),
        ])
    func texts(_ member: String, _ text: String) throws {
        #expect(try decision(.ios, #"{"aps":{\#(member)}}"#).warnings.map(\.description) == [text])
    }

    @Test(
        "of another platform give a warning",
        arguments: [
            (Platform.ios, #"{"_ab":"true","t":"T"}"#, [Warning.keyOfAnotherPlatform("_ab", .android), .apsMissing]),
            (.ios, #"{"extras":{"_ab":"true"}}"#, [.keyOfAnotherPlatform("extras", .android), .apsMissing]),
            (.ios, #"{"notification":{"title":"x"}}"#, [.keyOfAnotherPlatform("notification", .android), .apsMissing]),
            (.ios, #"{"aps":{},"_ab":"true"}"#, [.keyOfAnotherPlatform("_ab", .android)]),
            // A key of the app's own.
            (.ios, #"{"aps":{},"extras":{},"notification":{}}"#, []),
            (.web, #"{"_ab":"true"}"#, [.keyOfAnotherPlatform("_ab", .android)]),
            (.web, #"{"aps":{}}"#, [.keyOfAnotherPlatform("aps", .ios)]),
            (.web, #"{"cid":"c"}"#, []),
            // The worker gets the data of a message of FCM in an object of FCM's.
            (.web, #"{"message":{"token":"t","data":{"_ab":"true"}}}"#, []),
            (.web, #"{"message":{"token":"t","webpush":{"data":{"_ab":"true"}}}}"#, []),
        ])
    func otherPlatforms(_ platform: Platform, _ payload: String, _ warnings: [Warning]) throws {
        let decision = try decision(platform, payload)
        #expect(decision.warnings == warnings)
        #expect(decision.provider == nil || warnings.isEmpty)
    }

    // Source: apns2 response.go and notification.go, quoting Apple.
    @Test(
        "are refused by APNs for wrong headers",
        arguments: [
            (#""apns-push-type":"alert","apns-priority":"10""#, []),
            (#""apns-push-type":"loud""#, [.invalidPushType("loud")]),
            (#""apns-priority":"7""#, [.badPriority("7")]),
            (#""apns-priority":"1""#, []),
            (#""apns-push-type":"background","apns-priority":"5""#, []),
            (#""apns-push-type":"background","apns-priority":"10""#, [.badBackgroundPriority("10")]),
            (#""APNs-Push-Type":"background""#, [.badBackgroundPriority(nil)]),
            (#""apns-collapse-id":"\#(String(repeating: "é", count: 32))""#, []),
            (#""apns-collapse-id":"\#(String(repeating: "é", count: 33))""#, [.badCollapseID(length: 66)]),
            (#""apns-expiration":"0""#, []),
            (#""apns-expiration":"soon""#, [.badExpirationDate("soon")]),
            (#""apns-id":"eabeae54-14a8-11e5-b60b-1697f925ec7b""#, []),
            (#""apns-id":"eabeae5414a811e5b60b1697f925ec7b""#, [.badMessageID("eabeae5414a811e5b60b1697f925ec7b")]),
            (
                #""apns-id":"xabeae54-14a8-11e5-b60b-1697f925ec7b""#,
                [.badMessageID("xabeae54-14a8-11e5-b60b-1697f925ec7b")]
            ),
        ] as [(String, [APNsRefusal])])
    func headers(_ headers: String, _ refusals: [APNsRefusal]) throws {
        let body = #"{"message":{"token":"t","apns":{"headers":{\#(headers)},"payload":{"aps":{"alert":"x"}}}}}"#
        let decision = try decision(.ios, body)
        let refused = decision.warnings.filter { if case .refusedByAPNs = $0 { true } else { false } }
        #expect(refused == refusals.map(Warning.refusedByAPNs))
        // The warnings name the headers that APNs would refuse; `decide` decides the payload all the same.
        #expect(decision.outcome == .shownBySystem)
    }

    @Test(
        "name the reason in APNs's answer",
        arguments: [
            (APNsRefusal.invalidPushType("x"), "400 InvalidPushType"), (.badPriority("x"), "400 BadPriority"),
            (.badBackgroundPriority("10"), "400 BadPriority"), (.badBackgroundPriority(nil), "400 BadPriority"),
            (.badCollapseID(length: 65), "400 BadCollapseId"), (.badExpirationDate("x"), "400 BadExpirationDate"),
            (.badMessageID("x"), "400 BadMessageId"),
            (.payloadTooLarge(length: 4097, limit: 4096), "413 PayloadTooLarge"),
        ])
    func refusalTexts(_ refusal: APNsRefusal, _ reason: String) {
        #expect(refusal.description.hasSuffix(": APNs refuses it with \(reason)"))
    }

    // Source: APNSwift, apns2, and answers that aioapns got.
    @Test("have reasons with the status of Apple's table")
    func reasons() {
        let table: [Int: [APNsReason]] = [
            400: [
                .badCollapseID, .badDeviceToken, .badExpirationDate, .badMessageID, .badPriority, .badTopic,
                .deviceTokenNotForTopic, .duplicateHeaders, .idleTimeout, .invalidPushType, .missingDeviceToken,
                .missingTopic, .payloadEmpty, .topicDisallowed,
            ],
            403: [
                .badCertificate, .badCertificateEnvironment, .badEnvironmentKeyIDInToken, .badEnvironmentKeyInToken,
                .expiredProviderToken, .forbidden, .invalidProviderToken, .missingProviderToken,
                .unrelatedKeyIDInToken,
            ],
            404: [.badPath], 405: [.methodNotAllowed], 410: [.expiredToken, .unregistered], 413: [.payloadTooLarge],
            429: [.tooManyProviderTokenUpdates, .tooManyRequests], 500: [.internalServerError],
            503: [.serviceUnavailable, .shutdown],
        ]
        #expect(table.values.joined().count == APNsReason.allCases.count)
        for (status, reasons) in table { for reason in reasons { #expect(reason.status == status) } }
    }

    /// A payload of so many bytes without white space.
    private func payload(bytes: Int, more: String = "") -> String {
        let empty = #"{\#(more)"aps":{"alert":""}}"#
        return #"{\#(more)"aps":{"alert":"\#(String(repeating: "x", count: bytes - empty.utf8.count))"}}"#
    }

    @Test("are too large beyond 4,096 bytes, or 5,120 for VoIP, white space aside")
    func size() throws {
        #expect(try decision(.ios, payload(bytes: 4096)).warnings == [])
        #expect(try decision(.ios, " {" + payload(bytes: 4096).dropFirst() + "\n").warnings == [])
        #expect(try decision(.ios, "{ \n" + payload(bytes: 4096).dropFirst()).warnings == [])
        #expect(
            try decision(.ios, payload(bytes: 4097)).warnings
                == [.refusedByAPNs(.payloadTooLarge(length: 4097, limit: 4096))])
        let voip = { (bytes: Int) in
            let headers = #""headers":{"apns-push-type":"voip"}"#
            return #"{"message":{"token":"t","apns":{\#(headers),"payload":\#(payload(bytes: bytes))}}}"#
        }
        #expect(try decision(.ios, voip(5120)).warnings == [])
        #expect(
            try decision(.ios, voip(5121)).warnings
                == [.refusedByAPNs(.payloadTooLarge(length: 5121, limit: 5120))])
    }

    // Source: release notes of Xcode 11.4; the checks of tools around simctl.
    @Test("are refused as .apns files beyond 4,096 bytes, white space included")
    func simulatorFile() throws {
        let bundle = #""Simulator Target Bundle":"com.example.app","#
        #expect(try decision(.ios, payload(bytes: 4096, more: bundle)).app == "com.example.app")
        let error = PayloadError(field: "payload", message: "an .apns file may have 4096 bytes; this has 4097")
        #expect(try refusal(.ios, payload(bytes: 4097, more: bundle)) == error)
        #expect(try refusal(.ios, "{ " + payload(bytes: 4096, more: bundle).dropFirst()) == error)
        #expect(throws: error) { try SimulatorFile.check(json(payload(bytes: 4097))) }
        #expect(throws: PayloadError.self) { try SimulatorFile.check(json(#"{"k":"v"}"#)) }
        for name in Fixture.list("payloads/fcm-apns", suffix: ".json") where name.contains("apnsfile") {
            try SimulatorFile.check(JSONDocument(scanning: Fixture.bytes(name)).root)
        }
    }

    // Source: FCM's answer, quoted in celestifyhq/fcm-cloudflare-workers#10.
    @Test("are refused by FCM without aps")
    func v1WithoutAPS() throws {
        let body = #"{"message":{"token":"t","notification":{"title":"x"},"apns":{"payload":{"sound":"s"}}}}"#
        let error = PayloadError(
            field: "payload.message.apns.payload.aps",
            message: "FCM v1 takes a payload for APNs with an object aps only")
        #expect(try refusal(.ios, body) == error)
        #expect(try refusal(.android, body) == error)
    }

    @Test(
        "come with or without a Braze instance, which matters only to Braze on iOS",
        arguments: [
            (Platform.ios, true, SDKState.ready, nil), (.ios, true, .missing, Warning.sdkMissing),
            (.ios, true, .delayed, .sdkDelayed), (.ios, false, .delayed, .sdkHasNoEffect(.ios)),
            (.android, true, .missing, .sdkHasNoEffect(.android)), (.web, true, .delayed, .sdkHasNoEffect(.web)),
            (.web, false, .ready, nil),
        ])
    func sdk(_ platform: Platform, _ isBraze: Bool, _ sdk: SDKState, _ warning: Warning?) throws {
        let payload =
            switch platform {
            case .android: isBraze ? #"{"_ab":"true"}"# : "{}"
            case .ios: isBraze ? #"{"aps":{},"ab":{"c":"c"}}"# : #"{"aps":{}}"#
            case .web: isBraze ? #"{"cid":"c","t":"T"}"# : "{}"
            }
        let decision = try decide(Delivery(platform: platform, sdk: sdk, payload: json(payload)))
        #expect((decision.provider == "braze") == isBraze)
        #expect(decision.warnings == (warning.map { [$0] } ?? []))
    }
}
