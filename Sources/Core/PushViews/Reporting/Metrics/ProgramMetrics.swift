public import PushModel

/// The metrics of what `pushrouter-metrics` sees beside the daemon: the gateway, and the directory of backups.
///
/// The daemon has those of pushrouter-http and pushrouter-forward, since it sees each of their requests and answers.
public enum ProgramMetrics {
    /// The facts of the gateway, for ``OpenMetrics/text(_:with:as:)``.
    public enum Gateway {
        /// There is no socket: nobody started it.
        case absent
        /// It does not answer.
        case down
        /// Its answer to `GET /status`.
        case up(JSONNode)
    }

    /// Returns the facts as a status.
    ///
    /// - Parameters:
    ///   - gateway: the gateway.
    ///   - backups: the number of backups, and when the newest was complete; `nil`: none are made.
    public static func facts(
        gateway: Gateway, backups: (count: Int, newest: WallTime?)?, at now: WallTime
    ) -> StatusValue {
        .object { facts in
            switch gateway {
            case .absent: break
            case .down: facts.member("gateway", object: { $0.member("up", false) })
            case .up(let status):
                facts.member(
                    "gateway",
                    object: {
                        $0.member("up", true)
                        $0.members(of: status)
                    })
            }
            guard let backups else { return }
            facts.member(
                "backups",
                object: {
                    $0.member("count", backups.count)
                    $0.member("age_ms", backups.newest.map { max(0, now.milliseconds - $0.milliseconds) })
                })
        }
    }

    /// The metrics in the order of the output.
    static let all: [MetricFamily] = [
        gateway("up", "1 when the gateway answers, 0 when it does not; none where its socket does not exist."),
        gateway("connections", "Open connections of the gateway's clients."),
        gateway("accepted", "Connections of clients since the start.", .counter, metric: "connections_accepted"),
        gateway("refused", "Connections that the gateway closed at once.", .counter, metric: "connections_refused"),
        MetricFamily(
            "gateway_connections_ended", "Connections that the gateway ended: a flood of frames, or a slow client.",
            .counter, labels: ["reason"]
        ) {
            sample($0["gateway"]?["floods"], [("reason", "flood")])
                + sample($0["gateway"]?["too_slow"], [("reason", "slow")])
        },
        MetricFamily(
            "gateway_handshakes_failed", "Failed handshakes of TLS, by OpenSSL's reason.", .counter, labels: ["reason"]
        ) { each($0["gateway"]?["failed_handshakes"], "reason") },
        MetricFamily(
            "gateway_answers", "Answers of the gateway, by the service that a client asked and the status.", .counter,
            labels: ["service", "status"]
        ) { status in
            status["gateway"]?["services"]?.members.flatMap { each($0.value, "status", [("service", $0.name)]) } ?? []
        },
        MetricFamily(
            "gateway_refusals", "Requests that the gateway refused, by the service's reason.", .counter,
            labels: ["reason"]
        ) { each($0["gateway"]?["refusals"], "reason") },
        gateway("overloaded", "Requests answered 503 because too many waited.", .counter),
        gateway("over_quota", "Sends over a quota of Google's or Apple's.", .counter),
        gateway("refused_tunnels", "CONNECT requests to hosts that are no push services.", .counter),
        MetricFamily("gateway_daemon_problem", "1 while the gateway does not reach the daemon.") { status in
            switch status["gateway"]?["daemon_problem"] {
            case .text: [MetricSample("1")]
            case .null: [MetricSample("0")]
            default: []
            }
        },
        MetricFamily(
            "gateway_credentials", "Keys of senders that the gateway read, by kind: accounts of Google, keys of Apple.",
            labels: ["kind"]
        ) { each($0["gateway"]?["credentials"], "kind") },
        MetricFamily(
            "gateway_certificate_end_seconds",
            """
            The end of a certificate, since 1970: authority, which clients must trust, and server, which the gateway renews.
            """, labels: ["certificate"]
        ) { end($0, "authority") + end($0, "certificate", named: "server") },
        gateway("next_authority", "1 while the gateway hands out the next authority, too."),
        MetricFamily("backups", "Complete backups of pushrouterd-backup.timer; none where no backups are made.") {
            sample($0["backups"]?["count"])
        },
        MetricFamily("backup_age_seconds", "The age of the newest complete backup.") {
            ($0["backups"]?["age_ms"]?.integer).map { [MetricSample(decimal($0, scale: 3))] } ?? []
        },
    ]

    /// Returns the metric of a member of the gateway's status.
    private static func gateway(
        _ member: String, _ help: String, _ kind: MetricFamily.Kind = .gauge, metric: String? = nil
    ) -> MetricFamily {
        MetricFamily("gateway_" + (metric ?? member), help, kind) { sample($0["gateway"]?[member]) }
    }

    private static func sample(_ value: StatusValue?, _ labels: [(String, String)] = []) -> [MetricSample] {
        switch value {
        case .integer(let number): [MetricSample(String(number), labels)]
        case .flag(let flag): [MetricSample(flag ? "1" : "0", labels)]
        default: []
        }
    }

    private static func each(
        _ value: StatusValue?, _ label: String, _ labels: [(String, String)] = []
    ) -> [MetricSample] {
        value?.members.flatMap { sample($0.value, labels + [(label, $0.name)]) } ?? []
    }

    private static func end(_ status: StatusValue, _ member: String, named name: String? = nil) -> [MetricSample] {
        guard let time = (status["gateway"]?["\(member)_ends"]?.text).flatMap(WallTime.init(rfc3339:)) else {
            return []
        }
        return [MetricSample(decimal(time.milliseconds, scale: 3), [("certificate", name ?? member)])]
    }
}

extension OpenMetrics {
    /// Returns the daemon's metrics with those of ``ProgramMetrics`` behind them.
    public static func text(_ daemon: String, with facts: StatusValue, as format: MetricsFormat) -> String {
        var writer = MetricWriter(format: format, created: nil)
        for family in ProgramMetrics.all { writer.write(family, family.samples(facts)) }
        let others = writer.ended()
        guard format == .openMetrics, daemon.hasSuffix(MetricWriter.end) else { return daemon + others }
        return daemon.dropLast(MetricWriter.end.count) + others
    }
}
