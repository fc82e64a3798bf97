import Glibc
import TestSupport

@testable import LinuxSystem

/// A service for a `socket` handler on a thread of its own, which closes each connection after its first answer.
final class ClosingService {
    /// The listener; its path is removed with it.
    private let listener: Listener
    private let finish: EventDescriptor

    /// - Parameter path: the path of its socket.
    init(path: String) throws {
        listener = try Listener(path: path, mode: 0o600)
        finish = try EventDescriptor()
        let (socket, end) = (listener.descriptor, finish.descriptor)
        try WorkerThread("closing-service") {
            var connections: [Conversation] = []
            while true {
                var ready = [end.rawValue, socket.rawValue] + connections.map(\.descriptor.rawValue)
                var waits = ready.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
                poll(&waits, nfds_t(waits.count), -1)
                ready = waits.filter { $0.revents != 0 }.map(\.fd)
                if ready.contains(end.rawValue) { return }
                connections.removeAll { ready.contains($0.descriptor.rawValue) && $0.answer() }
                if ready.contains(socket.rawValue), let one = SharedDescriptor(acceptConnection(of: socket.rawValue)) {
                    connections.append(Conversation(descriptor: one))
                }
            }
        }.detach()
    }

    deinit { finish.signal() }

    private struct Conversation {
        let descriptor: SharedDescriptor

        /// Answers the line that has come.
        ///
        /// - Returns: whether the connection is at its end.
        func answer() -> Bool {
            var bytes = [UInt8](repeating: 0, count: 65_536)
            let count = read(descriptor.rawValue, &bytes, bytes.count)
            let line = String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
            // {"id":1,...
            guard let number = line.split(separator: ":").dropFirst().first?.prefix(while: \.isNumber) else {
                return true
            }
            let answer = Array("{\"id\":\(number),\"status\":\"handled\"}\n".utf8)
            _ = send(descriptor.rawValue, answer, answer.count, Int32(MSG_NOSIGNAL))
            return true
        }
    }
}
