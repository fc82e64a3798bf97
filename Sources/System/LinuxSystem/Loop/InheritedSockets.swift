import CSystemd
import Glibc

/// The sockets that the service manager passes at the start (sd_listen_fds(3)).
public enum InheritedSockets {
    /// Takes the sockets, each with its name from `FileDescriptorName=`. The caller owns them; a second call finds
    /// none.
    public static func take() -> [(name: String, descriptor: Int32)] {
        var names: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
        // 1 unsets the environment variables, so that no child takes the sockets for its own.
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

    /// Takes the socket of a program that listens on one; `nil` if there is none.
    ///
    /// - Throws: if there are several: the program would not answer on the others.
    public static func takeSingle() throws(SurplusSockets) -> Int32? {
        let all = take()
        guard all.count <= 1 else { throw SurplusSockets(count: all.count) }
        return all.first?.descriptor
    }
}

/// The error if the service manager passed more sockets than a program listens on.
public struct SurplusSockets: Error, Hashable, CustomStringConvertible {
    /// The number of sockets.
    public let count: Int

    /// The advice for people.
    public var description: String {
        "the service manager gave \(count) sockets, and this program takes one: keep one socket unit, with one "
            + "ListenStream="
    }
}
