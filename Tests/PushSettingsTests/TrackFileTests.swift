import Testing

@testable import PushModel
@testable import PushRouter
@testable import PushSettings

/// A file that is valid except for the parameters.
private func file(
    match: String = "", track: String = "On=opened", identifier: String = "KeyValue=braze_id",
    event: String = "Name=x", attributes: String = ""
) -> String {
    "[Match]\n\(match)\n[Track]\n\(track)\n[Identifier]\n\(identifier)\n[Event]\n\(event)\n[Attributes]\n\(attributes)"
}

private let sources =
    "must be keyvalue:KEY, data:KEY, \"a quoted text\", provider, campaign_id, message_id, platform, app, device, "
    + "external_id, occasion, action or text"

private let fieldForm =
    "must be NAME TYPE SOURCE, such as price number keyvalue:price; quote a name with spaces"

private let wrongHeads: [(lines: String, message: String)] = [
    (
        file(match: "Callback=willPresent"),
        ":2: error: Callback= in [Match]: a track has no Callback=; use On="
    ),
    (
        file(track: ""),
        ": error: On= is missing; [Track] needs On=received, opened, action or dismissed, or several of them"
    ),
    (
        file(track: "On=open"),
        ":4: error: On=open: must be received, opened, action or dismissed; did you mean opened?"
    ),
    (
        file(identifier: ""),
        ": error: [Identifier] is missing; it names the profile: KeyValue=braze_id, ExternalID= or Alias="
    ),
    (
        file(identifier: "KeyValue=braze_id\nExternalID=external_id"),
        ":7: error: only one of KeyValue=, ExternalID= and Alias= can name the profile"
    ),
    (file(identifier: "KeyValue=braze id"), ":6: error: KeyValue=braze id: must be one key, without spaces"),
    (
        file(identifier: "ExternalID=campaign_id"),
        ":6: error: ExternalID=campaign_id: must be keyvalue:KEY, data:KEY, external_id or device"
    ),
    (
        file(identifier: "ExternalID=\"me\""),
        ":6: error: ExternalID=\"me\": must be keyvalue:KEY, data:KEY, external_id or device"
    ),
    (
        file(identifier: "ExternalID=braze_id"),
        ":6: error: ExternalID=braze_id: the source \"braze_id\" must be keyvalue:KEY, data:KEY, external_id or device"
    ),
    (
        file(identifier: "Alias=crm deviec"),
        ":6: error: Alias=crm deviec: the source \"deviec\" must be keyvalue:KEY, data:KEY, external_id or device; "
            + "did you mean device?"
    ),
    (
        file(identifier: "ExternalID=external_id device"),
        ":6: error: ExternalID=external_id device: must be one source, such as keyvalue:event_name; "
            + "quote a key with spaces"
    ),
    (
        file(identifier: "Alias=crm_id"),
        ":6: error: Alias=crm_id: must be LABEL SOURCE, such as crm_id keyvalue:crm_id; "
            + "quote a label with spaces"
    ),
]

private let wrongContents: [(lines: String, message: String)] = [
    (
        file(event: "Name=x\nNameFrom=keyvalue:event_name"),
        ":9: error: only one of Name= and NameFrom= can give the event its name"
    ),
    (file(event: "Name=\"x\""), ":8: error: Name=\"x\": a name is not quoted; leave the quotes out"),
    (
        file(event: "Property=a string app"),
        ":8: error: Property= needs an event; give [Event] Name= or NameFrom="
    ),
    (
        file(event: ""),
        ": error: sends nothing; it needs Name= in [Event], or Attribute= or UserAttribute= in [Attributes]"
    ),
    (
        file(event: "NameFrom=keyvalue"),
        ":8: error: NameFrom=keyvalue: the source \"keyvalue\" \(sources)"
    ),
    (
        file(event: "NameFrom=keyvalue:"),
        ":8: error: NameFrom=keyvalue:: the source \"keyvalue:\" \(sources)"
    ),
    (
        file(event: "NameFrom=campaignid"),
        ":8: error: NameFrom=campaignid: the source \"campaignid\" \(sources); did you mean campaign_id?"
    ),
    (
        file(event: "Name=x\nProperty=price number"),
        ":9: error: Property=price number: \(fieldForm)"
    ),
    (
        file(event: "Name=x\nProperty=price number keyvalue:a b"),
        ":9: error: Property=price number keyvalue:a b: \(fieldForm)"
    ),
    (
        file(event: "Name=x\nProperty=price int keyvalue:price"),
        ":9: error: Property=price int keyvalue:price: must be string, number, integer, boolean, date, array, "
            + "object or json; did you mean integer?"
    ),
    (
        file(event: "Name=x\nProperty=time date data:t"),
        ":9: error: Property=time date data:t: \"time\": the API reserves this name; call it another"
    ),
    (
        file(event: "Name=x\nProperty=event_name string data:t"),
        ":9: error: Property=event_name string data:t: \"event_name\": the API reserves this name; call it another"
    ),
    (
        file(event: "Name=x\nProperty=$a string data:t"),
        ":9: error: Property=$a string data:t: \"$a\": the name of a property does not begin with $"
    ),
    (
        file(event: "Name=x\nProperty=\"\" string data:t"),
        ":9: error: Property=\"\" string data:t: \"\": the name is empty"
    ),
    (
        file(event: "Name=x\nProperty=n integer \"12.5\""),
        ":9: error: Property=n integer \"12.5\": \"12.5\" must be a whole number, such as 12"
    ),
    (
        file(event: "Name=x\nProperty=a string app\nProperty=a string device"),
        ":10: error: Property=a: is given twice; remove one"
    ),
    (
        file(attributes: "Attribute=email string keyvalue:email"),
        ":10: error: Attribute=email string keyvalue:email: \"email\": is a field of the profile, not a custom attribute; "
            + "log it with the user attributes"
    ),
    (
        file(attributes: "UserAttribute=e_mail string keyvalue:email"),
        ":10: error: UserAttribute=e_mail string keyvalue:email: \"e_mail\": is not a field of the profile; "
            + "log it with the custom attributes; did you mean email?"
    ),
]

@Suite("tracks.d/*.track")
struct TrackFileTests {
    @Test("reads every key; lists separated by spaces or repeated")
    func readsEverything() {
        let (settings, diagnostics) = track(
            """
            [Match]
            Provider=braze none
            Platform=android ios
            App=com.example.*
            Data=type summer sale *
            KeyValue=braze_id
            [Track]
            On=opened
            On=action
            Action=buy* later
            [Identifier]
            KeyValue=braze_id
            [Event]
            Name=push opened
            Property=campaign string campaign_id
            Property="the price" number keyvalue:price
            Property=screen string keyvalue:"first screen"
            Property=source string "push router"
            Property=kind json data:kind
            [Attributes]
            Attribute=last_push date "2026-11-21"
            UserAttribute=email string keyvalue:email
            """)
        #expect(diagnostics == [])
        let match = RouteMatch(
            providers: ["braze", "none"], platforms: [.android, .ios], apps: [Glob("com.example.*")],
            data: [RouteMatch.KeyCondition(key: "type", pattern: Glob("summer sale *"))],
            keyValues: [RouteMatch.KeyCondition(key: "braze_id", pattern: nil)])
        let event = TrackRule.Event(
            name: .constant("push opened"),
            properties: [
                TrackField("campaign", .string, .fact(.campaignID)),
                TrackField("the price", .number, .keyValue("price")),
                TrackField("screen", .string, .keyValue("first screen")),
                TrackField("source", .string, .constant("push router")),
                TrackField("kind", .json, .data("kind")),
            ])
        #expect(
            settings?.routing.tracks == [
                TrackRule(
                    name: "20-x", match: match, occasions: [.opened, .action], buttons: [Glob("buy*"), Glob("later")],
                    identifier: .brazeID(keyValue: "braze_id"), event: event,
                    attributes: [TrackField("last_push", .date, .constant("2026-11-21"))],
                    userAttributes: [TrackField("email", .string, .keyValue("email"))])
            ])
    }

    @Test(
        "each identifier of a track file is read",
        arguments: [
            ("KeyValue=braze_id", TrackIdentifier.brazeID(keyValue: "braze_id")),
            ("ExternalID=external_id", .externalID(.fact(.externalID))),
            ("ExternalID=keyvalue:user", .externalID(.keyValue("user"))),
            ("ExternalID=data:\"the user\"", .externalID(.data("the user"))),
            ("Alias=crm_id keyvalue:crm_id", .alias(label: "crm_id", name: .keyValue("crm_id"))),
            ("Alias=\"the device\" device", .alias(label: "the device", name: .fact(.device))),
        ])
    func identifiers(line: String, identifier: TrackIdentifier) {
        let (settings, diagnostics) = track("[Track]\nOn=received\n[Identifier]\n\(line)\n[Event]\nName=x")
        #expect(diagnostics == [])
        #expect(settings?.routing.tracks.first?.identifier == identifier)
    }

    @Test("reads each word of On= and each fact")
    func words() {
        for occasion in TrackRule.Occasion.allCases {
            let (settings, _) = track("[Track]\nOn=\(occasion)\n[Identifier]\nKeyValue=braze_id\n[Event]\nName=x")
            #expect(settings?.routing.tracks.first?.occasions == [occasion])
        }
        for fact in TrackSource.Fact.allCases {
            let (settings, _) = track(
                "[Track]\nOn=opened\n[Identifier]\nKeyValue=braze_id\n[Event]\nNameFrom=\(fact.rawValue)")
            #expect(settings?.routing.tracks.first?.event?.name == .fact(fact))
        }
    }

    @Test("sorts tracks by their names, and an empty file masks one")
    func sortsAndMasks() {
        let text = "[Track]\nOn=opened\n[Identifier]\nKeyValue=braze_id\n[Event]\nName=x"
        let (settings, diagnostics) = load(
            main: "[UsersTrack]\nEndpoint=https://x", tracks: ["b": text, "10-a": text, "9": text, "c": ""])
        #expect(diagnostics == [])
        #expect(settings?.routing.tracks.map(\.name) == ["10-a", "9", "b"])
    }

    @Test("a fault in a track file is reported with file, line and reason", arguments: wrongHeads + wrongContents)
    func wrongFiles(lines: String, message: String) {
        let (settings, diagnostics) = track(lines)
        #expect(diagnostics == ["tracks.d/20-x.track\(message)"])
        #expect(settings == nil)
    }

    @Test(
        "warns about keys without an effect or likely mistakes, and accepts them",
        arguments: doubtfulFiles)
    func warnings(lines: String, message: String) {
        let (settings, diagnostics) = track(lines)
        #expect(diagnostics == ["tracks.d/20-x.track\(message)"])
        #expect(settings?.routing.tracks.count == 1)
    }

    private static let doubtfulFiles: [(lines: String, message: String)] =
        [
            (file(track: "On=opened\nAction=buy"), ":5: warning: Action=: has no effect without On=action"),
            (
                file(identifier: "KeyValue=Braze_id"),
                ":6: warning: KeyValue=Braze_id: names are case-sensitive; "
                    + "Braze calls it braze_id, and a payload with that name does not match"
            ),
            (
                file(identifier: "KeyValue=braze-id"),
                ":6: warning: KeyValue=\"braze-id\": names must match exactly; "
                    + "Braze calls it braze_id, and a payload with that name does not match"
            ),
            (
                file(identifier: "KeyValue=keyvalue:braze_id"),
                ":6: warning: KeyValue=keyvalue:braze_id: takes the key alone, without keyvalue:; "
                    + "did you mean KeyValue=braze_id?"
            ),
            (
                file(match: "Provider=brase"),
                ":2: warning: Provider=brase: there is no providers.d/brase.provider, or it is empty; "
                    + "did you mean Provider=braze?"
            ),
        ]

    @Test("accepts a name of at most 255 characters")
    func longNames() {
        for (length, isRight) in [(255, true), (256, false)] {
            let name = String(repeating: "é", count: length)
            #expect((track(file(event: "Name=\(name)")).settings != nil) == isRight)
            #expect((track(file(event: "Name=x\nProperty=\(name) string app")).settings != nil) == isRight)
        }
    }
}
