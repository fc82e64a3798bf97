public import PushModel

/// What `pushctl doctor` collected from the system, the files and the daemon.
public struct HealthFacts: Sendable {
    /// A mistake in the configuration.
    public struct Mistake: Hashable, Sendable {
        /// Whether the daemon refuses the configuration for it.
        public var isError: Bool
        /// File, line and reason.
        public var message: String

        /// Joins the two.
        public init(isError: Bool, message: String) {
            self.isError = isError
            self.message = message
        }
    }

    /// The file system of the state directory.
    public struct Disk: Hashable, Sendable {
        /// In bytes: what is left for a user who is not root.
        public var free: Int64
        /// How many files can still be made; `nil`: the file system has no such limit.
        public var freeFiles: Int64?

        /// Joins the two.
        public init(free: Int64, freeFiles: Int64?) {
            self.free = free
            self.freeFiles = freeFiles
        }
    }

    /// How writing and syncing a block in the state directory went.
    public enum Sync: Hashable, Sendable {
        /// How long it took.
        case took(Duration)
        /// It failed: where and why.
        case failed(String)
        /// There is no room for it.
        case noSpace
        /// This user may not write there.
        case notPermitted
    }

    /// How opening and reading the ledger went.
    public enum Ledger: Hashable, Sendable {
        /// It was opened, and all of it was read and found right.
        case whole
        /// It was opened, and not read: it has this many bytes.
        case opened(length: Int64)
        /// This user may not read it.
        case notPermitted
        /// What is wrong with it, and what to do.
        case problem(String, remedy: String)
    }

    /// How connecting to something, and asking it, went.
    public enum Answer: Hashable, Sendable {
        /// Somebody is there.
        case answered
        /// It took the connection and did not answer in time.
        case silent
        /// This user may not connect.
        case notPermitted
        /// Nobody is there: why.
        case failed(String)
    }

    /// A handler, and what it needs of the system.
    public struct Handler: Hashable, Sendable {
        /// Its name.
        public var name: String
        /// Its program, or that of `http` handlers; `nil`: it has none.
        public var program: FileFacts?
        /// How the handler's own program begins; `nil`: that cannot be told.
        public var start: ProgramStart?
        /// The interpreter that its first line names; `nil`: it names none.
        public var interpreter: FileFacts?
        /// Whether the program is found that its interpreter searches for; `nil`: it searches for none.
        public var isSearchedProgramFound: Bool?
        /// `User=`; `nil`: it has none.
        public var user: String?
        /// The account of that user; `nil`: the system has no such user.
        public var account: UserAccount?
        /// The socket that it answers on; `nil`: it has none.
        public var socket: Socket?
        /// The certificates that it trusts instead of the system's (`CAFile=`); `nil`: the system's.
        public var authorities: FileFacts?

        /// One that needs nothing.
        public init(name: String) { self.name = name }
    }

    /// A socket, and how it answered.
    public struct Socket: Hashable, Sendable {
        /// Where it is, and who may use it.
        public var file: FileFacts
        /// How it answered.
        public var answer: Answer
        /// How this user gets the right to connect; `nil`: it has it, or that cannot be told.
        public var membership: String?

        /// Joins the parts.
        public init(file: FileFacts, answer: Answer, membership: String? = nil) {
            self.file = file
            self.answer = answer
            self.membership = membership
        }
    }

    /// A file that holds a key or a token.
    public struct Secret: Hashable, Sendable {
        /// What names it: `KeyFile=`, `handler crm: SecretFile=`, `LoadCredential=`.
        public var name: String
        /// The file.
        public var file: FileFacts
        /// What cannot be done without it.
        public var purpose: String
        /// Whether its owner alone may have access. What the service manager loaded has an access list instead.
        public var isPrivate: Bool
        /// Whether it may lie elsewhere: a credential can be encrypted, or loaded only while its service runs.
        public var mayBeElsewhere: Bool

        /// Joins the parts.
        public init(
            name: String, file: FileFacts, purpose: String, isPrivate: Bool = true, mayBeElsewhere: Bool = false
        ) {
            self.name = name
            self.file = file
            self.purpose = purpose
            self.isPrivate = isPrivate
            self.mayBeElsewhere = mayBeElsewhere
        }
    }

    /// The account that the daemon runs as, or would: that of its process, else the owner of the state directory.
    public var service: UserAccount?
    /// What `pushctl verify` finds in the files alone.
    public var mistakes: [Mistake] = []
    /// Directories and files of the configuration.
    public var configuration: [FileFacts] = []
    /// The state directory, then what is in it.
    public var state: [FileFacts] = []
    /// How the ledger there is; `nil`: there is none.
    public var ledger: Ledger?
    /// Directories in the state directory to which a start, or a restore, moved what it did not go on with.
    public var setAside: [String] = []
    /// How this user gets the right to read the ledger; `nil`: it has it, or that cannot be told.
    public var membership: String?
    /// The file system of the state directory; `nil`: it cannot be told.
    public var disk: Disk?
    /// How one sync there went; `nil`: there is no such directory.
    public var sync: Sync?
    /// The directory of the sockets.
    public var runtime: FileFacts?
    /// The three sockets: what they are, and how they answered.
    public var sockets: [Socket] = []
    /// The daemon's answer to `op: status`; `nil` without one.
    public var status: JSONNode?
    /// What was found of the database that several machines share; nothing where there is none.
    public var database: [HealthFinding] = []
    /// Whether the kernel takes the clock for synchronised; `nil`: it cannot be told.
    public var isClockSynchronised: Bool?
    /// Whether the journal takes entries.
    public var journal: Answer?
    /// The handlers, in order of their names.
    public var handlers: [Handler] = []
    /// The files of keys and tokens.
    public var secrets: [Secret] = []

    /// Nothing is known yet.
    public init() {}
}
