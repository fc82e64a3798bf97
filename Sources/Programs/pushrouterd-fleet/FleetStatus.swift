import PostgreSQL
import PushModel
import PushViews

extension FleetStatus {
    /// The object of `--status --json`, with a line feed.
    ///
    /// - Parameter findings: the findings about the database.
    func json(_ findings: [HealthFinding]) -> String {
        var writer = JSONWriter()
        writer.object { writer in
            writer.member("fleet", fleet.description)
            writer.member("schema", schema)
            writer.member("created", created.rfc3339)
            writer.member("batches_bytes", batchesSize)
            writer.member("engine", object: { engine.write(to: &$0) })
            writer.member(
                "standbys",
                array: { writer in
                    for standby in standbys {
                        writer.object { writer in
                            writer.member("name", standby.name)
                            writer.member("state", standby.state)
                            writer.member("sync", standby.sync)
                        }
                    }
                })
            writer.member("shards", array: { writer in for shard in shards { shard.write(to: &writer) } })
            writer.member(
                "findings", array: { list in for finding in findings { list.object { finding.write(to: &$0) } } })
        }
        return String(decoding: writer.bytes, as: UTF8.self) + "\n"
    }
}

extension FleetStatus.Engine {
    fileprivate func write(to writer: inout JSONWriter) {
        writer.member("version", version)
        writer.member("system_identifier", systemIdentifier.map(String.init))
        writer.member("address", address)
        writer.member("port", port)
        writer.member("synchronous_standby_names", standbyNames)
        writer.member("synchronous_commit", synchronousCommit)
        writer.member("fsync", fsync)
        writer.member("full_page_writes", fullPageWrites)
        writer.member("clock_ahead_ms", clockAhead.milliseconds)
        writer.member("clock_error_ms", clockError.milliseconds)
        writer.member("longest_transaction_ms", longestTransaction?.milliseconds)
    }
}

extension FleetStatus.Shard {
    fileprivate func write(to writer: inout JSONWriter) {
        let tail = tail.reference.number
        writer.object { writer in
            writer.member("number", number)
            writer.member("state", state.description)
            writer.member("leader", lease.owner?.node)
            writer.member("leader_silent_ms", silence?.milliseconds)
            writer.member("address", address)
            writer.member("term", lease.epoch)
            writer.member("successor", lease.successor)
            writer.member("batches", tail)
            writer.member("last_batch_age_ms", age.milliseconds)
            writer.member("first_batch", first)
            writer.member(
                "snapshots",
                array: { writer in
                    for stored in snapshots {
                        writer.object { writer in
                            writer.member("batch", stored.snapshot.reference.number)
                            writer.member("schema", stored.snapshot.schema)
                            writer.member("age_ms", stored.age.milliseconds)
                            writer.member("bytes", stored.snapshot.length)
                            writer.member("bytes_behind", stored.bytesBehind)
                        }
                    }
                })
            writer.member("version", version)
            writer.member(
                "copies",
                array: { writer in
                    for copy in copies {
                        writer.object { writer in
                            writer.member("node", copy.node)
                            writer.member("applied", copy.applied)
                            writer.member("behind", tail - min(tail, copy.applied))
                            writer.member("lag_ms", copy.lag?.milliseconds)
                            writer.member("age_ms", copy.age.milliseconds)
                            writer.member("drained", copy.isDrained)
                            writer.member("reads", copy.reads)
                            writer.member("program", copy.program)
                        }
                    }
                })
        }
    }
}

/// The findings about a fleet's database, for `pushctl doctor` and `pushctl store status`.
extension FleetStatus {
    /// The largest difference between a machine's clock and the engine's.
    private static let clockLimit: Duration = .milliseconds(250)
    /// An older transaction keeps dead rows in the tables.
    private static let transactionLimit: Duration = .seconds(60)
    /// The greatest age of the newest snapshot.
    private static let snapshotLimit: Duration = .seconds(2 * 86_400)

    /// - Parameter needsStandby: whether a batch is acknowledged only with a synchronous standby (`Durability=standby`).
    func findings(needsStandby: Bool) -> [HealthFinding] {
        let place = engine.address.map { " at \($0)" } ?? ""
        return [.fine(.database, "PostgreSQL \(engine.version)\(place) answers")] + settingFindings
            + (needsStandby ? standbyFindings : []) + clockFindings + shards.flatMap(findings) + loadFindings
    }

    private var settingFindings: [HealthFinding] {
        [
            engine.fsync
                ? nil
                : .error(
                    .database, "fsync is off: a power cut may lose what was acknowledged", do: "set fsync = on"),
            engine.fullPageWrites
                ? nil
                : .error(
                    .database, "full_page_writes is off: a power cut may damage the database",
                    do: "set full_page_writes = on"),
            ["on", "remote_apply"].contains(engine.synchronousCommit)
                ? nil
                : .error(
                    .database, "synchronous_commit is \(engine.synchronousCommit): the leader acknowledges no request",
                    do: "set synchronous_commit = on for the role and the database"),
            health.autovacuum
                ? nil
                : .warning(
                    .database, "autovacuum is off: the tables grow by their dead rows", do: "set autovacuum = on"),
        ].compactMap(\.self)
    }

    private var standbyFindings: [HealthFinding] {
        guard !engine.standbyNames.allSatisfy({ $0 == " " }) else {
            return [
                .error(
                    .database, "synchronous_standby_names is empty: nothing is acknowledged",
                    do: "name a standby, with Patroni by synchronous_mode_strict; the guide to pairs has the rest"
                )
            ]
        }
        let good = standbys.filter { $0.state == "streaming" && ["sync", "quorum"].contains($0.sync) }
        guard good.isEmpty else {
            return [.fine(.database, "synchronous standby: \(good.map(\.name).joined(separator: ", "))")]
        }
        if standbys.contains(where: { $0.state == nil }) {
            return [
                .warning(
                    .database, "this role may not see whether a standby is synchronous",
                    do: "GRANT pg_monitor TO the role of Log=")
            ]
        }
        return [
            .error(
                .database, "no standby streams synchronously: commits wait, and nothing is acknowledged",
                do: "start the standby, and look why it does not stream (pg_stat_replication, its log)")
        ]
    }

    private var clockFindings: [HealthFinding] {
        let off = Duration.nanoseconds(abs(engine.clockAhead.nanoseconds)) - engine.clockError
        guard off > Self.clockLimit else { return [] }
        return [
            .warning(
                .database, "its clock is \(engine.clockAhead.milliseconds) ms ahead of this machine's",
                do: "run chrony or systemd-timesyncd on both")
        ]
    }

    private func findings(of shard: Shard) -> [HealthFinding] {
        let leader = shard.lease.owner?.node
        var findings = [leadFinding(shard)]
        let others = shard.copies.filter { $0.node != leader }
        for copy in others {
            let behind = shard.tail.reference.number - min(shard.tail.reference.number, copy.applied)
            findings.append(
                copy.age > Self.silenceLimit
                    ? .warning(
                        .database, "\(copy.node) does not follow: its last report is \(spanInWords(copy.age)) old",
                        do: "start pushrouterd there, or DELETE FROM push_copies WHERE node = '\(copy.node)'")
                    : .fine(.database, "\(copy.node) follows, \(counted(behind, "batch", "batches")) behind"))
        }
        if !others.contains(where: { $0.age <= Self.silenceLimit }) {
            findings.append(
                .warning(
                    .database, "no second machine follows: none takes over if the leader fails",
                    do: "start another one"))
        }
        let newest = shard.snapshots.first?.age
        let age = newest ?? health.fleetAge
        if age > Self.snapshotLimit {
            findings.append(
                .warning(
                    .database,
                    newest == nil
                        ? "there is no whole snapshot, and the fleet is \(spanInWords(age)) old"
                        : "the newest whole snapshot is \(spanInWords(age)) old",
                    do: "look for the cause in the journals of the machines"))
        }
        return findings
    }

    private func leadFinding(_ shard: Shard) -> HealthFinding {
        let running = shard.copies.filter { $0.age <= Self.silenceLimit }
        let start = "start pushrouterd on one of the machines, and read its journal"
        switch (shard.lease.owner?.node, shard.longSilence) {
        case (let leader?, nil): return .fine(.database, "\(leader) leads, term \(shard.lease.epoch)")
        case (let leader?, let silence?):
            return .error(
                .database, "no machine leads: the last sign of its leader \(leader) is \(spanInWords(silence)) old",
                do: start)
        case (nil, _) where !running.isEmpty && running.allSatisfy(\.isDrained):
            return .error(
                .database, "no machine leads: every machine that runs is drained",
                do: "pushctl store drain --undo \(running[0].node)")
        case (nil, _): return .error(.database, "no machine leads", do: start)
        }
    }

    private var loadFindings: [HealthFinding] {
        var findings: [HealthFinding] = []
        if health.connections * 5 > health.connectionLimit * 4 {
            findings.append(
                .warning(
                    .database, "\(health.connections) of \(health.connectionLimit) connections are used",
                    do: "raise max_connections, or find who has them in pg_stat_activity"))
        }
        if let age = engine.longestTransaction, age > Self.transactionLimit {
            findings.append(
                .warning(
                    .database, "a transaction is \(spanInWords(age)) old: dead rows stay until it ends",
                    do: "find it by xact_start in pg_stat_activity, and end it"))
        }
        for slot in health.idleSlots {
            findings.append(
                .warning(
                    .database,
                    "the replication slot \(slot.name) is idle, and holds \(slot.heldBytes >> 20) MiB of WAL",
                    do: "start its standby, or SELECT pg_drop_replication_slot('\(slot.name)')"))
        }
        return findings
    }
}
