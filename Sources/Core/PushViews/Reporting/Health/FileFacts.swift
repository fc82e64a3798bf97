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
