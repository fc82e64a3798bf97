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
}
