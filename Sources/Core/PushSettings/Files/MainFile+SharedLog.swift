import PushModel

extension [Key<Settings>] {
    static var sharedLogKeys: [Key<Settings>] {
        [
            Key(
                "Store", "Log", { $1(&$0.store.shared.database) }, Form.databaseURI.optional, showsValue: false,
                reload: .restart,
                meaning: """
                    The PostgreSQL database that has the log of several machines, as a connection URI such as \
                    `postgresql://push@a.example,b.example/push`. One of the machines leads and acknowledges a request \
                    when the database has committed it; the others follow, and one of them takes over. Only \
                    pushrouterd-fleet(8) accepts this setting. Write no password into the URI: `passfile=` names a \
                    file. Default: the log is in the state directory, and this machine runs alone.
                    """),
            Key(
                "Store", "Durability", { $1(&$0.store.shared.durability) }, .choice, reload: .restart,
                default: "standby",
                meaning: """
                    The part that keeps an acknowledged request when the database's machine is lost: `standby`, a \
                    synchronous standby, so the leader acknowledges no request while `synchronous_standby_names` is \
                    empty; or `engine`, the service itself, as you declare, such as a managed database that replicates \
                    below PostgreSQL.
                    """),
            Key(
                "Store", "Node", { $1(&$0.store.shared.node) }, Form.nodeName.optional, reload: .restart,
                meaning: """
                    The name of this machine among those that share the log: letters, digits, `.`, `-` and `_`, at most 32. \
                    Default: the host name.
                    """),
            Key(
                "Store", "Lease", { $1(&$0.store.shared.lease) }, .timeSpan(.milliseconds(500) ... .seconds(60)),
                reload: .restart, default: "3s",
                meaning: """
                    The time without an answer of the database after which another machine takes over from the leader, \
                    500ms to 1min, the same on all machines. After this time the leader starts no handler until the \
                    database confirms the lease.
                    """),
            Key(
                "Store", "SnapshotEvery", { $1(&$0.store.shared.snapshotInterval) },
                .timeSpan(.seconds(1) ... .seconds(30 * 86_400)), reload: .restart, default: "1d",
                meaning: """
                    The maximum age of the newest copy of the ledger in the database, 1s to 30d. A follower writes the \
                    copy, or the leader if no machine follows; also after 8 GiB of new batches. The database keeps two \
                    copies. The leader deletes batches from the log that are before the older copy and older than ten \
                    minutes, so a machine without a ledger reads the batches of about one interval after a copy. A \
                    copy needs free space of the ledger's size in the state directory while the machine writes it.
                    """),
            Key(
                "Store", "SnapshotRate", { $1(&$0.store.shared.snapshotRate) }, .byteSize(64 << 10...1 << 30),
                reload: .restart, default: "16M",
                meaning: """
                    The maximum number of bytes of that copy that the machine sends to the database in a second, 64K \
                    to 1G, and then reads back.
                    """),
        ]
    }
}
