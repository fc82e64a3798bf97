import PushModel
import SettingsSyntax

extension [Key<Settings>] {
    static var sharedLogKeys: [Key<Settings>] {
        [
            Key(
                "Store", "Log", { $1(&$0.store.shared.database) }, Form.databaseURI.optional, reload: .restart,
                meaning: """
                    The PostgreSQL database that has the log of several machines, as a connection URI such as \
                    `postgresql://push@a.example,b.example/push`. One of the machines leads and acknowledges a \
                    request when the database has committed it; the others follow, and one of them takes over. Only \
                    pushrouterd-fleet(8) takes it. Keep the password out of it: `passfile=` names a file. Default: the log is \
                    in the state directory, and this machine has nobody beside it.
                    """),
            Key(
                "Store", "Durability", { $1(&$0.store.shared.durability) }, .choice, reload: .restart,
                default: "standby",
                meaning: """
                    What keeps an acknowledged request when the database's machine is lost: `standby`, a synchronous standby, \
                    so nothing is acknowledged while `synchronous_standby_names` is empty; or `engine`, the service itself, \
                    by your word, as with a managed database that replicates below PostgreSQL.
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
                    How long the leader may go without a word of the database before another machine takes over, 500ms to \
                    60s, the same on all machines. After it the leader starts no handler until the database confirms it.
                    """),
            Key(
                "Store", "SnapshotEvery", { $1(&$0.store.shared.snapshotInterval) },
                .timeSpan(.seconds(1) ... .seconds(30 * 86_400)), reload: .restart, default: "1d",
                meaning: """
                    How old the newest copy of the ledger in the database may become, 1s to 30d. A machine that follows writes                     it, or the leader where none follows; also when 8 GiB came since the last one. Two are kept. What is                     behind the older one and older than ten minutes is deleted from the log, so an interval is what a machine                     without a disk reads behind a copy. It needs free space of the ledger's size in the state directory, for                     as long as it is written.
                    """),
            Key(
                "Store", "SnapshotRate", { $1(&$0.store.shared.snapshotRate) }, .byteSize(64 << 10...1 << 30),
                reload: .restart, default: "16M",
                meaning: """
                    How many bytes of that copy are sent to the database in a second, 64K to 1G, and then read back.
                    """),
        ]
    }
}
