import Glibc

/// The name of a user of this machine.
public enum UserName: Hashable, Sendable {
    /// The user has this name.
    case name(String)
    /// No user has the id.
    case none
    /// The name cannot be found now, or cannot be used: the reason.
    case failed(String)

    /// Returns the name of the user for other machines: its own, or `uid:` and the id, which cannot be a user's name
    /// because of the colon. `nil` if the name cannot be found.
    ///
    /// - Parameter user: the id that was looked up.
    public func text(of user: UInt32) -> String? {
        switch self {
        case .name(let name): name
        case .none: "uid:\(user)"
        case .failed: nil
        }
    }

    /// The limit for a passwd entry, in bytes.
    private static let entryLengthMax = 64 << 10

    /// Looks the user up with getpwuid_r, which may block on a directory service.
    public init(of user: UInt32) {
        var (entry, found) = (passwd(), UnsafeMutablePointer<passwd>?.none)
        var buffer = [CChar](repeating: 0, count: 1024)
        while true {
            let problem = getpwuid_r(user, &entry, &buffer, buffer.count, &found)
            if problem == ERANGE, buffer.count < Self.entryLengthMax {
                buffer = [CChar](repeating: 0, count: 4 * buffer.count)
                continue
            }
            guard let name = found?.pointee.pw_name else {
                self = [0, ENOENT, ESRCH].contains(problem) ? .none : .failed(errorText(problem))
                return
            }
            self = String(validatingCString: name).map(Self.name) ?? .failed("its name is not UTF-8")
            return
        }
    }
}
