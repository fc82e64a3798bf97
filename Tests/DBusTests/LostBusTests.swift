import Glibc
import TestSupport
import Testing

@testable import DBus
@testable import LinuxSystem

@Suite("A lost bus", .timeLimit(.minutes(30)))
struct LostBusTests: ~Copyable {
    private let directory = TemporaryDirectory()
    private var address: String { "unix:path=\(directory.path)/bus" }

    /// A bus that closes each connection.
    private func listen() throws -> Int32 {
        let listener = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var place = sockaddr_un()
        place.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &place.sun_path) { $0.copyBytes(from: "\(directory.path)/bus".utf8) }
        let result = withUnsafePointer(to: &place) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        try #require(result == 0 && Glibc.listen(listener, 1) == 0)
        return listener
    }

    private func endConnection(of listener: Int32) {
        close(acceptConnection(of: listener))
        close(listener)
    }

    private func wait(for descriptor: Int32, _ events: UInt32) {
        var waiting = pollfd(fd: descriptor, events: Int16(truncatingIfNeeded: events), revents: 0)
        poll(&waiting, 1, 10_000)
    }

    /// The inode of the socket behind a descriptor; nil when the descriptor is closed. Another test may get a closed
    /// descriptor's number at once, but never this socket's inode.
    private func socketNumber(_ descriptor: Int32) -> UInt64? {
        var information = stat()
        return fstat(descriptor, &information) == 0 ? UInt64(information.st_ino) : nil
    }

    @Test("is reported, and its descriptor is closed once neither the service nor the loop holds it")
    func logControl() throws {
        let listener = try listen()
        let log = LogControlService.Log(
            levels: ["info"], level: { "info" }, setLevel: { _ in }, target: "journal", identifier: "pushrouterd")
        var service: LogControlService? = try LogControlService(address: address, name: "dev.example", log: log)
        var watched = service?.descriptor
        let descriptor = try #require(watched?.rawValue)
        let socket = try #require(socketNumber(descriptor))
        endConnection(of: listener)
        var reason: String?
        for _ in 0..<100 where reason == nil {
            wait(for: descriptor, try #require(service).events)
            reason = service?.process()
        }
        #expect(reason != nil && service?.events == 0 && service?.dueNanoseconds == nil)
        #expect(socketNumber(descriptor) == socket && service?.descriptor.rawValue == descriptor)
        #expect(service?.process() == nil, "it was said")
        service = nil
        #expect(socketNumber(descriptor) == socket)
        watched = nil
        #expect(watched == nil && socketNumber(descriptor) != socket)
    }

    @Test("is reported by the notification service too")
    func notifications() throws {
        let listener = try listen()
        var service: NotificationService? = try NotificationService(address: address)
        var watched = service?.descriptor
        let descriptor = try #require(watched?.rawValue)
        let socket = try #require(socketNumber(descriptor))
        endConnection(of: listener)
        var isLost = false
        for _ in 0..<100 where !isLost {
            wait(for: descriptor, try #require(service).events)
            for case .lost in service?.process() ?? [] { isLost = true }
        }
        #expect(isLost && service?.events == 0 && socketNumber(descriptor) == socket)
        service = nil
        #expect(socketNumber(descriptor) == socket)
        watched = nil
        #expect(watched == nil && socketNumber(descriptor) != socket)
    }
}
