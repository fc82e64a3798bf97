import Glibc

/// The name of a user of this machine.
public enum UserName: Hashable, Sendable {
    /// The user has this name.
    case name(String)
    /// No user has the id.
    case none
    /// Nobody can tell now, or the name cannot be used: the reason.
    case failed(String)

    /// The name by which others know the user: its own, or the id, which is no name, because names have no colon. `nil`: nobody
    /// can tell.
    ///
    /// - Parameter user: the user that was asked for.
    public func text(of user: UInt32) -> String? {
        switch self {
        case .name(let name): name
        case .none: "uid:\(user)"
        case .failed: nil
        }
    }

    /// The largest entry of a user, in bytes.
    private static let entryLengthMax = 64 << 10

    /// Asks the system, which may ask a service: the call blocks.
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
