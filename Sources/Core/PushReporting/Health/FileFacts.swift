/// What the system says of a file: who owns it, and who may use it.
public struct FileFacts: Hashable, Sendable {
    /// What it is.
    public enum Kind: Hashable, Sendable {
        case file, directory, socket, link, other
    }

    /// Who owns it and who may use it.
    public struct Attributes: Hashable, Sendable {
        /// What it is.
        public var kind: Kind
        /// The user id of its owner.
        public var owner: UInt32
        /// The group id of its group.
        public var group: UInt32
        /// The twelve permission bits.
        public var mode: UInt32

        /// Joins the parts.
        public init(_ kind: Kind, owner: UInt32, group: UInt32, mode: UInt32) {
            self.kind = kind
            self.owner = owner
            self.group = group
            self.mode = mode
        }

        /// The mode as `chmod` takes it.
        var octal: String { "0" + String(mode, radix: 8) }

        /// Whether an account may do with it what the permission bit says: 4 read, 2 write, 1 execute or pass.
        func allows(_ bit: UInt32, _ account: UserAccount) -> Bool {
            if account.user == 0 { return bit != 1 || mode & 0o111 != 0 || kind == .directory }
            if account.user == owner { return mode & bit << 6 != 0 }
            return mode & (account.groups.contains(group) ? bit << 3 : bit) != 0
        }
    }

    /// What the system says.
    public enum Condition: Hashable, Sendable {
        /// It is there.
        case found(Attributes)
        /// It is not there.
        case missing
        /// This user may not look.
        case hidden
        /// Why it cannot be told.
        case failed(String)
    }

    /// Where it is.
    public var path: String
    /// What the system says.
    public var condition: Condition

    /// Joins the two.
    public init(_ path: String, _ condition: Condition) {
        self.path = path
        self.condition = condition
    }

    /// What it is; `nil` where that cannot be told. Where this is inlined into a loop, Swift 6.3.1 ends with an ownership
    /// error in its own pass CopyPropagation.
    @inline(never)
    var attributes: Attributes? {
        if case .found(let attributes) = condition { attributes } else { nil }
    }
}

/// A user and the groups that it is in.
public struct UserAccount: Hashable, Sendable {
    /// The user id.
    public var user: UInt32
    /// The group ids, its primary group first.
    public var groups: [UInt32]
    /// The user's name, or the number where it has none.
    public var name: String

    /// Joins the parts.
    public init(user: UInt32, groups: [UInt32], name: String) {
        self.user = user
        self.groups = groups
        self.name = name
    }
}
