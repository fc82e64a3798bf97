import Testing

@testable import PushRouter
@testable import PushSettings

@Suite("[UsersTrack]")
struct UsersTrackTests {
    @Test("reads every key into its setting")
    func readsEveryKey() throws {
        let (loaded, diagnostics) = load(
            main: """
                [Tracker]
                EventTime=flushed
                [UsersTrack]
                Endpoint=https://rest.fra-01.braze.eu
                KeyFile=/etc/pushrouterd/users-track-key
                BatchSize=50
                CombinedLimit=60
                Flush=250ms
                RateLimit=100
                RateInterval=1min
                Timeout=10s
                Connections=4
                OnUnknown=retry
                SendFlushed=yes
                MaxPending=7
                MaxPendingSize=1M
                ArrayElementsMax=25
                """)
        #expect(diagnostics == [])
        let settings = try #require(loaded)
        var sending = ForwardingSettings()
        sending.endpoint = "https://rest.fra-01.braze.eu/users/track"
        sending.keyFile = "/etc/pushrouterd/users-track-key"
        sending.batchSize = 50
        sending.combinedLimit = 60
        sending.flush = .milliseconds(250)
        sending.rateLimit = 100
        sending.rateInterval = .seconds(60)
        sending.timeout = .seconds(10)
        sending.connections = 4
        #expect(settings.usersTrack == sending)
        var rules = CustomDataRules()
        rules.eventTime = .flushed
        rules.onUnknown = .retry
        rules.sendsFlushed = true
        rules.pendingMax = 7
        rules.pendingSizeMax = 1 << 20
        rules.arrayElementsMax = 25
        #expect(settings.routing.customData == rules)
    }

    @Test(
        "accepts the address with or without the path",
        arguments: [
            ("https://rest.fra-01.braze.eu", "https://rest.fra-01.braze.eu/users/track"),
            ("https://rest.fra-01.braze.eu/", "https://rest.fra-01.braze.eu/users/track"),
            ("https://rest.fra-01.braze.eu/users/track", "https://rest.fra-01.braze.eu/users/track"),
            ("https://rest.fra-01.braze.eu/users/track/", "https://rest.fra-01.braze.eu/users/track"),
            ("HTTPS://REST.braze.EU:8443", "https://rest.braze.eu:8443/users/track"),
            ("https://[2001:db8::1]:443/", "https://[2001:db8::1]:443/users/track"),
            ("http://127.0.0.1:8080", "http://127.0.0.1:8080/users/track"),
            ("http://127.1.2.3", "http://127.1.2.3/users/track"),
            ("http://[::1]:8080", "http://[::1]:8080/users/track"),
            ("http://localhost", "http://localhost/users/track"),
        ])
    func endpoints(text: String, address: String) {
        let (settings, diagnostics) = main("UsersTrack", "Endpoint=\(text)")
        #expect(diagnostics == [])
        #expect(settings?.usersTrack.endpoint == address)
    }

    @Test(
        "reports the error of an address without repeating the address",
        arguments: [
            ("rest.braze.eu", "must be an https address, such as https://rest.fra-01.braze.eu"),
            ("ftp://rest.braze.eu", "must be an https address, such as https://rest.fra-01.braze.eu"),
            ("https:/rest.braze.eu", "must be an https address, such as https://rest.fra-01.braze.eu"),
            (
                "http://rest.braze.eu",
                "must begin with https://; only localhost, 127.0.0.0/8 or [::1] may be reached by http://"
            ),
            (
                "http://localhost.braze.eu",
                "must begin with https://; only localhost, 127.0.0.0/8 or [::1] may be reached by http://"
            ),
            (
                "http://127.0.0.1.braze.eu",
                "must begin with https://; only localhost, 127.0.0.0/8 or [::1] may be reached by http://"
            ),
            (
                "http://127.0.0.1@braze.eu",
                "must have no user and password; put the API key into the file of KeyFile="
            ),
            ("https://me:secret@braze.eu", "must have no user and password; put the API key into the file of KeyFile="),
            (
                "https://braze.eu?key=secret",
                "must end with the path, without ? and #; put the API key into the file of KeyFile="
            ),
            (
                "https://braze.eu/#x",
                "must end with the path, without ? and #; put the API key into the file of KeyFile="
            ),
            ("https://braze.eu/messages/send", "must have no path but /users/track"),
            ("https://braze.eu//users/track", "must have no path but /users/track"),
            ("https://", "must have a host of letters, digits, and - . after ://"),
            ("https://:443", "must have a host of letters, digits, and - . after ://"),
            ("https://a b", "must have a host of letters, digits, and - . after ://"),
            ("https://münchen.de", "must have a host of letters, digits, and - . after ://"),
            ("https://[::1", "must have an IPv6 address between [ and ]"),
            ("https://[x]", "must have an IPv6 address between [ and ]"),
            ("https://braze.eu:", "must have a port from 1 to 65535 after the host's colon"),
            ("https://braze.eu:0", "must have a port from 1 to 65535 after the host's colon"),
            ("https://braze.eu:65536", "must have a port from 1 to 65535 after the host's colon"),
            ("https://braze.eu:99999999999999999999", "must have a port from 1 to 65535 after the host's colon"),
            ("https://[::1]x", "must have a port from 1 to 65535 after the host's colon"),
        ])
    func wrongEndpoints(text: String, reason: String) {
        let (settings, diagnostics) = main("UsersTrack", "Endpoint=\(text)")
        #expect(diagnostics == ["pushrouterd.conf:2: error: Endpoint=: \(reason)"])
        #expect(settings == nil)
    }

    @Test(
        "accepts each number at its limits, and none beyond",
        arguments: [
            ("BatchSize", "1", "75", "0", "76", "must be from 1 to 75: /users/track refuses more of a kind"),
            ("CombinedLimit", "1", "150", "0", "151", "must be from 1 to 150"),
            ("Flush", "0", "1min", "", "60001ms", "must be from 0 to 1min"),
            ("RateLimit", "1", "1000000", "0", "1000001", "must be from 1 to 1000000"),
            ("RateInterval", "1ms", "1d", "999us", "86401s", "must be from 1ms to 1d"),
            ("Timeout", "1s", "10min", "999ms", "601s", "must be from 1s to 10min"),
            ("Connections", "1", "64", "0", "65", "must be from 1 to 64"),
            ("MaxPending", "1", "100000000", "0", "100000001", "must be from 1 to 100000000"),
            ("MaxPendingSize", "64K", "16G", "65535", "17G", "must be from 64K to 16G"),
            ("ArrayElementsMax", "1", "10000", "0", "10001", "must be from 1 to 10000"),
        ])
    func limits(key: String, least: String, most: String, below: String, above: String, reason: String) {
        for value in [least, most] { #expect(main("UsersTrack", "\(key)=\(value)").diagnostics == []) }
        for value in [below, above] where !value.isEmpty {
            #expect(
                main("UsersTrack", "\(key)=\(value)").diagnostics
                    == ["pushrouterd.conf:2: error: \(key)=\(value): \(reason)"])
        }
    }

    @Test(
        "lists the words of a choice",
        arguments: [
            ("UsersTrack", "OnUnknown=drop", "OnUnknown=drop: must be hold or retry"),
            ("Tracker", "EventTime=flush", "EventTime=flush: must be saved or flushed; did you mean flushed?"),
            ("UsersTrack", "SendFlushed=maybe", "SendFlushed=maybe: must be yes or no"),
            ("UsersTrack", "BatchSize=many", "BatchSize=many: must be a whole number"),
        ])
    func choices(section: String, line: String, message: String) {
        #expect(main(section, line).diagnostics == ["pushrouterd.conf:2: error: \(message)"])
    }

    @Test(
        "reports a secret in the file as an error without printing it",
        arguments: ["ApiKey", "APIKey", "Key", "KeyValue", "RestApiKey", "Token", "Authorization", "Bearer", "Secret"])
    func secrets(key: String) {
        let (settings, diagnostics) = main("UsersTrack", "\(key)=1234-abcd")
        #expect(settings == nil)
        #expect(
            diagnostics == [
                "pushrouterd.conf:2: error: \(key)= in [UsersTrack]: do not put the API key here, where others can read it: "
                    + "put it alone into a file that only its owner can read and name that with KeyFile=, or give the "
                    + "service the systemd credential users-track-key; make a new key, since others may have read this one"
            ])
    }

    @Test("never prints a key given as KeyFile=, and does not read a misspelt KeyFile=")
    func keyFile() {
        #expect(
            main("UsersTrack", "KeyFile=1234-abcd").diagnostics == [
                "pushrouterd.conf:2: error: KeyFile=: must be the absolute path of the place of the secret, "
                    + "never the secret itself"
            ])
        #expect(
            main("UsersTrack", "Keyfile=/x").diagnostics == [
                "pushrouterd.conf:2: warning: unknown key Keyfile= in [UsersTrack], ignored; did you mean KeyFile=?"
            ])
        #expect(
            main("UsersTrack", "KeyFile=/x\nKeyFile=/y").diagnostics == [
                "pushrouterd.conf:3: warning: KeyFile=: replaces the KeyFile= of line 2"
            ])
    }

    @Test("warns about entries that only accumulate, because no endpoint is set")
    func noEndpoint() {
        let track = "[Track]\nOn=opened\n[Identifier]\nKeyValue=braze_id\n[Event]\nName=push_opened"
        let consequence =
            "[UsersTrack] has no Endpoint=, so nothing is sent until it has one: entries wait, up to MaxPending=7"
        let (settings, diagnostics) = load(
            main: "[UsersTrack]\nMaxPending=7\nSendFlushed=yes", tracks: ["20-x": track])
        #expect(settings != nil)
        #expect(
            diagnostics == [
                "pushrouterd.conf:3: warning: SendFlushed=yes: \(consequence)", "tracks.d: warning: \(consequence)",
            ])
        #expect(
            load(main: "[UsersTrack]\nSendFlushed=yes\nEndpoint=https://x", tracks: ["20-x": track]).diagnostics == [])
        #expect(main("UsersTrack", "SendFlushed=no").diagnostics == [])
    }
}
