import Testing

@testable import PushModel
@testable import PushRouter
@testable import PushSettings

@Suite("registrations.d/*.registration")
struct RegistrationFileTests {
    @Test("every key of a registration file is read")
    func readsEverything() {
        let (settings, diagnostics) = registration(
            """
            [Registration]
            Token=shop-* tok[0-9]
            Platform=ios
            App=com.example.shop
            Device=iphone
            ExternalID=anna
            [State]
            State=foreground
            Locked=yes
            Notifications=denied
            OSVersion=17.4
            SDK=nil
            """)
        #expect(diagnostics == [])
        var state = DeviceState()
        (state.state, state.locked, state.osVersion) = (.foreground, true, "17.4")
        (state.notifications, state.sdk) = (.denied, .missing)
        #expect(
            settings?.routing.registrations == [
                RegistrationRule(
                    name: "20-x", tokens: [Glob("shop-*"), Glob("tok[0-9]")], platform: .ios, app: "com.example.shop",
                    device: "iphone", externalID: "anna", state: state)
            ])
    }

    @Test("apply in the order of their names, and an empty file masks one")
    func sortsAndMasks() {
        let text = "[Registration]\nToken=a"
        let (settings, diagnostics) = load(registrations: ["b": text, "10-a": text, "9": text, "c": ""])
        #expect(diagnostics == [])
        #expect(settings?.routing.registrations.map(\.name) == ["10-a", "9", "b"])
    }

    @Test(
        "a fault in a registration file is reported with file, line and reason",
        arguments: [
            (
                "[Registration]\nApp=shop",
                ": error: Token= is missing; it is the token or installation id, or a pattern of them"
            ),
            (
                "[Registration]\nToken=a\n[State]\nOSVersion=new",
                ":4: error: OSVersion=new: a version is major[.minor[.patch]] in digits, such as 17 or 17.4.1"
            ),
            (
                "[Registration]\nToken=\"a\"",
                ":2: error: Token=\"a\": a pattern is not quoted; leave the quotes out, or write \\ before a literal quote"
            ),
        ])
    func wrongFiles(lines: String, message: String) {
        let (settings, diagnostics) = registration(lines)
        #expect(diagnostics == ["registrations.d/20-x.registration\(message)"])
        #expect(settings == nil)
    }

    @Test("a name has 1 to 255 bytes, and no NUL")
    func names() throws {
        for name in ["a", "\u{1}", "ä", String(repeating: "x", count: 255)] {
            #expect(try Form<String>.entityName.parse(name) == name)
        }
        for name in ["", "a\u{0}b", String(repeating: "x", count: 256), String(repeating: "ä", count: 128)] {
            #expect(throws: ValueError("a name has 1 to 255 bytes")) { try Form<String>.entityName.parse(name) }
        }
    }

    @Test("warns of one device for every token, and accepts it")
    func warnings() {
        let (settings, diagnostics) = registration("[Registration]\nToken=*\nDevice=pixel")
        #expect(
            diagnostics == [
                "registrations.d/20-x.registration:3: warning: Device=pixel makes all tokens one device; "
                    + "without Device= each token is a device"
            ])
        #expect(settings?.routing.registrations.count == 1)
    }
}
