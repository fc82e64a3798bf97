import Testing

@testable import PushModel
@testable import PushViews

@Suite("The metrics beside the daemon's")
struct ProgramMetricsTests {
    private static let status = #"""
        {"connections":3,"accepted":9,"refused":1,"overloaded":0,"over_quota":2,"floods":4,"too_slow":5,
        "refused_tunnels":0,"failed_handshakes":{"unknown ca":2},"services":{"fcm":{"200":7,"404":1},"apns":{"400":3}},
        "refusals":{"BadDeviceToken":3,"UNREGISTERED":1},"daemon_problem":null,"credentials":{"accounts":1,"keys":2},
        "certificate_ends":"2026-12-30T00:00:00Z","authority_ends":"1970-01-01T00:01:40Z","next_authority":false}
        """#

    private func text(
        _ daemon: String, _ gateway: ProgramMetrics.Gateway, backups: (count: Int, newest: WallTime?)? = nil,
        _ format: MetricsFormat = .prometheus
    ) -> String {
        let facts = ProgramMetrics.facts(gateway: gateway, backups: backups, at: WallTime(milliseconds: 90_500))
        return OpenMetrics.text(daemon, with: facts, as: format)
    }

    private func samples(_ text: String) -> Set<Substring> {
        Set(text.split(separator: "\n").filter { !$0.hasPrefix("#") })
    }

    @Test("are the gateway's answers by service and status, refusals by reason, ends of certificates and its clients")
    func gateway() throws {
        let root = try JSONDocument(scanning: Array(Self.status.utf8)).root
        #expect(
            samples(text("", .up(root))) == [
                "pushrouterd_gateway_up 1", "pushrouterd_gateway_connections 3",
                "pushrouterd_gateway_connections_accepted_total 9", "pushrouterd_gateway_connections_refused_total 1",
                #"pushrouterd_gateway_connections_ended_total{reason="flood"} 4"#,
                #"pushrouterd_gateway_connections_ended_total{reason="slow"} 5"#,
                #"pushrouterd_gateway_handshakes_failed_total{reason="unknown ca"} 2"#,
                #"pushrouterd_gateway_answers_total{service="fcm",status="200"} 7"#,
                #"pushrouterd_gateway_answers_total{service="fcm",status="404"} 1"#,
                #"pushrouterd_gateway_answers_total{service="apns",status="400"} 3"#,
                #"pushrouterd_gateway_refusals_total{reason="BadDeviceToken"} 3"#,
                #"pushrouterd_gateway_refusals_total{reason="UNREGISTERED"} 1"#,
                "pushrouterd_gateway_overloaded_total 0", "pushrouterd_gateway_over_quota_total 2",
                "pushrouterd_gateway_refused_tunnels_total 0", "pushrouterd_gateway_daemon_problem 0",
                #"pushrouterd_gateway_credentials{kind="accounts"} 1"#,
                #"pushrouterd_gateway_credentials{kind="keys"} 2"#,
                #"pushrouterd_gateway_certificate_end_seconds{certificate="authority"} 100"#,
                #"pushrouterd_gateway_certificate_end_seconds{certificate="server"} 1798588800"#,
                "pushrouterd_gateway_next_authority 0",
            ])
    }

    @Test("have no metric of a gateway that nobody started, and one that does not answer is not up")
    func absent() {
        #expect(samples(text("pushrouterd_up 0\n", .absent)) == ["pushrouterd_up 0"])
        #expect(samples(text("pushrouterd_up 1\n", .down)) == ["pushrouterd_up 1", "pushrouterd_gateway_up 0"])
    }

    @Test("are the number and the age of backups, where a directory has them")
    func backups() {
        #expect(samples(text("", .absent, backups: (0, nil))) == ["pushrouterd_backups 0"])
        let made = text("", .absent, backups: (7, WallTime(milliseconds: 500)))
        #expect(samples(made) == ["pushrouterd_backups 7", "pushrouterd_backup_age_seconds 90"])
    }

    @Test("come before the end marker of OpenMetrics, which is there once")
    func end() {
        let whole = text("pushrouterd_up 1\n# EOF\n", .down, backups: nil, .openMetrics)
        #expect(whole.hasPrefix("pushrouterd_up 1\n# TYPE pushrouterd_gateway_up gauge\n"))
        #expect(whole.hasSuffix("\npushrouterd_gateway_up 0\n# EOF\n"))
        #expect(whole.split(separator: "# EOF").count == 2)
    }
}
