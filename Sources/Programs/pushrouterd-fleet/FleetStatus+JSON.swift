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
