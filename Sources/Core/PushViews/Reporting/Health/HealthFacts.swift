public import PushModel

/// The facts that `pushctl doctor` collected from the system, the files and the daemon.
public struct HealthFacts: Sendable {
    /// A mistake in the configuration.
    public struct Mistake: Hashable, Sendable {
        /// Whether the daemon refuses the configuration because of it.
        public var isError: Bool
        /// File, line and reason.
        public var message: String

        /// Joins the fields.
        public init(isError: Bool, message: String) {
            self.isError = isError
            self.message = message
        }
    }

    /// The file system of the state directory.
    public struct Disk: Hashable, Sendable {
        /// The bytes that are free for users other than root.
        public var free: Int64
        /// The number of files that can still be created; `nil`: the file system has no such limit.
        public var freeFiles: Int64?

        /// Joins the fields.
        public init(free: Int64, freeFiles: Int64?) {
            self.free = free
            self.freeFiles = freeFiles
        }
    }

    /// The result of writing and syncing a block in the state directory.
    public enum Sync: Hashable, Sendable {
        /// The sync took this time.
        case took(Duration)
        /// The write or the sync failed: the place and the reason.
        case failed(String)
        /// The disk has no room for the block.
        case noSpace
        /// This user may not write there.
        case notPermitted
    }

    /// The result of opening and reading the ledger.
    public enum Ledger: Hashable, Sendable {
        /// The ledger was opened, and all of it was read without an error.
        case whole
        /// The ledger was opened and not read; its length in bytes.
        case opened(length: Int64)
        /// This user may not read it.
        case notPermitted
        /// The error and the remedy.
        case problem(String, remedy: String)
    }

    /// The result of connecting to a socket and asking the process behind it.
    public enum Answer: Hashable, Sendable {
        /// The process answered.
        case answered
        /// The process accepted the connection and did not answer in time.
        case silent
        /// This user may not connect.
        case notPermitted
        /// The connection failed, for this reason.
        case failed(String)
    }

    /// A handler and the files, users and sockets that it needs.
    public struct Handler: Hashable, Sendable {
        /// Its name.
        public var name: String
        /// The handler's program, or the program of `http` handlers; `nil`: it needs none.
        public var program: FileFacts?
        /// The first bytes of the handler's own program; `nil` if unknown.
        public var start: ProgramStart?
        /// The interpreter in the program's first line; `nil` without one.
        public var interpreter: FileFacts?
        /// Whether the program that `env` searches for was found; `nil`: there is no such search.
        public var isSearchedProgramFound: Bool?
        /// `User=`; `nil` without it.
        public var user: String?
        /// The account of that user; `nil`: the system has no such user.
        public var account: UserAccount?
        /// The socket that the handler listens on; `nil` without one.
        public var socket: Socket?
        /// The socket unit of the package that makes that socket; `nil`: another service makes it.
        public var socketUnit: String?
        /// The certificates of `CAFile=`, which replace the system's; `nil`: the system's.
        public var authorities: FileFacts?

        /// A handler without needs.
        public init(name: String) { self.name = name }
    }

    /// A socket and its answer.
    public struct Socket: Hashable, Sendable {
        /// Its path and permissions.
        public var file: FileFacts
        /// Its answer.
        public var answer: Answer
        /// The command that gives this user the right to connect; `nil` if the user has it or the command is unknown.
        public var membership: String?

        /// Joins the fields.
        public init(file: FileFacts, answer: Answer, membership: String? = nil) {
            self.file = file
            self.answer = answer
            self.membership = membership
        }
    }

    /// A file that holds a key or a token.
    public struct Secret: Hashable, Sendable {
        /// The setting that names it: `KeyFile=`, `handler crm: SecretFile=`, `LoadCredential=`.
        public var name: String
        /// The file.
        public var file: FileFacts
        /// The consequence of its absence: `without it the forwarder does not start`.
        public var purpose: String
        /// Whether only its owner may have access. A file that the service manager loaded has an access list instead.
        public var isPrivate: Bool
        /// Whether the file may be elsewhere: a credential can be encrypted, or loaded only while its service runs.
        public var mayBeElsewhere: Bool
        /// The user that reads it; `nil`: root reads it, or the user is unknown.
        public var reader: UserAccount?
        /// The directories of its path, from the root on.
        public var directories: [FileFacts] = []
        /// Why the service does not see the file; `nil`: nothing hides it.
        public var concealment: String?

        /// Joins the fields.
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

    /// The account of the daemon: that of its process, otherwise the owner of the state directory.
    public var service: UserAccount?
    /// The findings of `pushctl verify` in the files alone.
    public var mistakes: [Mistake] = []
    /// Directories and files of the configuration.
    public var configuration: [FileFacts] = []
    /// The state directory, then the files in it.
    public var state: [FileFacts] = []
    /// The state of its ledger; `nil` without a ledger.
    public var ledger: Ledger?
    /// Directories in the state directory to which a start or a restore moved data that it did not keep using.
    public var setAside: [String] = []
    /// The command that gives this user the right to read the ledger; `nil` if the user has it or the command is
    /// unknown.
    public var membership: String?
    /// The file system of the state directory; `nil` if unknown.
    public var disk: Disk?
    /// The result of one sync there; `nil` without a state directory.
    public var sync: Sync?
    /// The directory of the sockets.
    public var runtime: FileFacts?
    /// The command that starts the daemon.
    public var howToStart = "systemctl start pushrouterd"
    /// The three sockets and their answers.
    public var sockets: [Socket] = []
    /// The daemon's answer to `op: status`; `nil` without one.
    public var status: JSONNode?
    /// The findings about the database that several machines share; empty without such a database.
    public var database: [HealthFinding] = []
    /// Whether the kernel reports the clock as synchronised; `nil` if unknown.
    public var isClockSynchronised: Bool?
    /// The result of connecting to the journal.
    public var journal: Answer?
    /// The handlers, in order of their names.
    public var handlers: [Handler] = []
    /// The files of keys and tokens.
    public var secrets: [Secret] = []
    /// The findings about the other services of the package.
    public var services: [HealthFinding] = []

    /// Facts before the collection.
    public init() {}
}

/// The owner, the permissions and the kind of a file, or why they are unknown.
public struct FileFacts: Hashable, Sendable {
    /// The kind of file.
    public enum Kind: Hashable, Sendable {
        case file, directory, socket, link, other
    }

    /// The owner, the permissions and the kind of an existing file.
    public struct Attributes: Hashable, Sendable {
        /// The kind of file.
        public var kind: Kind
        /// The user id of its owner.
        public var owner: UInt32
        /// The group id of its group.
        public var group: UInt32
        /// The twelve permission bits.
        public var mode: UInt32

        /// Joins the fields.
        public init(_ kind: Kind, owner: UInt32, group: UInt32, mode: UInt32) {
            self.kind = kind
            self.owner = owner
            self.group = group
            self.mode = mode
        }

        /// The mode in the form that `chmod` takes.
        var octal: String { "0" + String(mode, radix: 8) }

        /// Returns whether the permission bits allow an account an access: 4 read, 2 write, 1 execute or search.
        func allows(_ bit: UInt32, _ account: UserAccount) -> Bool {
            if account.user == 0 { return bit != 1 || mode & 0o111 != 0 || kind == .directory }
            if account.user == owner { return mode & bit << 6 != 0 }
            return mode & (account.groups.contains(group) ? bit << 3 : bit) != 0
        }
    }

    /// The result of `stat(2)` or `lstat(2)`.
    public enum Condition: Hashable, Sendable {
        /// The file exists.
        case found(Attributes)
        /// The file does not exist.
        case missing
        /// The user may not search a directory of the path.
        case hidden
        /// The call failed for another reason.
        case failed(String)
    }

    /// The path of the file.
    public var path: String
    /// The result of `stat(2)` or `lstat(2)`.
    public var condition: Condition

    /// Joins the fields.
    public init(_ path: String, _ condition: Condition) {
        self.path = path
        self.condition = condition
    }

    /// The attributes; `nil` if the file was not found. Inlined into a loop, this property makes Swift 6.3.1 crash with
    /// an ownership error in its CopyPropagation pass.
    @inline(never)
    var attributes: Attributes? {
        if case .found(let attributes) = condition { attributes } else { nil }
    }
}

/// A user with its groups.
public struct UserAccount: Hashable, Sendable {
    /// The user id.
    public var user: UInt32
    /// The group ids, its primary group first.
    public var groups: [UInt32]
    /// The user's name, or the user id if it has no name.
    public var name: String

    /// Joins the fields.
    public init(user: UInt32, groups: [UInt32], name: String) {
        self.user = user
        self.groups = groups
        self.name = name
    }
}
