import CSystemd
import Glibc

/// The sockets that the service manager hands over at the start (sd_listen_fds(3)).
public enum InheritedSockets {
    /// Takes them, each with the name that `FileDescriptorName=` gives it. They are the caller's; a second call finds none.
    public static func take() -> [(name: String, descriptor: Int32)] {
        var names: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
        // 1: the environment forgets them, so that no child takes them for its own.
        let count = sd_listen_fds_with_names(1, &names)
        guard count > 0, let names else { return [] }
        defer {
            for index in 0..<Int(count) { free(names[index]) }
            free(names)
        }
        return (0..<count).map { index in
            (names[Int(index)].map { String(cString: $0) } ?? "", SD_LISTEN_FDS_START + index)
        }
    }

    /// Takes the one that a program with one socket listens on; `nil`: there is none.
    ///
    /// - Throws: that there are several: nobody would answer on the others.
    public static func takeOne() throws(SurplusSockets) -> Int32? {
        let all = take()
        guard all.count <= 1 else { throw SurplusSockets(count: all.count) }
        return all.first?.descriptor
    }
}

/// The service manager gave more sockets than a program listens on.
public struct SurplusSockets: Error, Hashable, CustomStringConvertible {
    /// How many it gave.
    public let count: Int

    /// What to do about it, for people.
    public var description: String {
        "the service manager gave \(count) sockets, and this program listens on one: leave one ListenStream= in the "
            + "socket unit, and one socket unit"
    }
}
