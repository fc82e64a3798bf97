import TestSupport
import Testing

@testable import PushGateway
@testable import PushModel

@Suite("The status of the gateway")
struct GatewayStatusTests {
    @Test("has each of its numbers in JSON, as Fixtures/gateway/status.txt has it")
    func members() throws {
        var status = GatewayStatus()
        (status.connections, status.accepted, status.refused, status.requests) = (11, 12, 13, 14)
        (status.overloaded, status.overQuota, status.floods, status.tooSlow, status.refusedTunnels) = (
            15, 16, 17, 18, 19
        )
        status.failedHandshakes = ["unknown ca": 20, "no protocol": 21]
        status.credentials = ["accounts": 22, "keys": 23]
        (status.daemonProblem, status.hasNextAuthority, status.authorities) = ("it is gone", true, "PEM")
        (status.certificateEnds, status.authorityEnds) = (
            WallTime(milliseconds: 24_000_000), WallTime(milliseconds: 25_000_000)
        )
        // More clients than are kept.
        for number in 0..<70 {
            for time in 0...number % 3 {
                status.note(
                    number % 2 == 0 ? 200 : 404, client: number == 3 ? nil : "client \(number)",
                    service: number < 50 ? "fcm" : "apns", at: WallTime(milliseconds: Int64(number * 10_000 + time)))
            }
        }
        let root = try JSONDocument(scanning: status.json).root
        Fixture.expect(
            root.members.map { "\($0.key) \(String(decoding: $0.value.rawBytes, as: UTF8.self))" },
            in: "gateway/status.txt")
    }
}
