import Testing

@testable import PushModel

@Suite("The allowed keys of a request")
struct RequestKeysTests {
    @Test("each key of a request has a bit of its own in RequestKeys", arguments: RequestKey.allCases)
    func bits(_ key: RequestKey) {
        let keys = RequestKeys([key])
        #expect(RequestKey.allCases.filter(keys.contains) == [key])
    }

    @Test("of a delivery are written again, for another state of the app and for a device, too")
    func copies() throws {
        let line = #"""
            {"op":"deliver","platform":"ios","app":"shop","device":"d","external_id":"anna","transport":"apns","payload":{},
            "state":"foreground","locked":true,"os_version":"17.2","notifications":"denied","sdk":"nil","message_id":"m",
            "headers":{"apns-priority":"5"}}
            """#
        let request = try Request(line: Array(line.utf8))
        guard case .deliver(let deliver) = request.action else { throw ReadFailure() }
        var device = DeviceState()
        (device.state, device.locked, device.osVersion) = (deliver.state, deliver.locked, deliver.osVersion)
        (device.notifications, device.sdk) = (deliver.notifications, deliver.sdk)
        // Those of the sender and of the line are not of the payload.
        let kept = RequestKey.allCases.filter {
            (DeliverRequest.keys).contains($0) && ![.id, .at, .wait, .sender].contains($0)
        }
        let redirected = deliver.redirected(to: deliver.target, state: deliver.state)
        for copy in [deliver, redirected, deliver.found(by: deliver.target, device)] {
            var writer = JSONWriter()
            writer.object { $0.members(of: copy) }
            let written = try JSONDocument(scanning: writer.bytes).root
            #expect(Set(written.members.map(\.key)) == Set(kept.map { "\($0.word)" }))
        }
    }

    private struct ReadFailure: Error {}

    @Test("trap when no bit is left for a key, rather than never allow it")
    func overflow() async {
        #expect(RequestKeys.bit(at: 63) == 1 << 63)
        await #expect(processExitsWith: .failure) { _ = RequestKeys.bit(at: 64) }
    }
}
