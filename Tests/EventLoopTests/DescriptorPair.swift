import Glibc

@testable import LinuxSystem

/// Two connected stream sockets.
final class DescriptorPair {
    let near: SharedDescriptor
    private(set) var far: SharedDescriptor?

    init() {
        var descriptors: [Int32] = [-1, -1]
        precondition(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &descriptors) == 0)
        near = SharedDescriptor(FileDescriptor(owning: descriptors[0]))
        far = SharedDescriptor(descriptors[1])
    }

    /// Makes `near` readable.
    func send(_ byte: UInt8 = 0) {
        var byte = byte
        precondition(far.map { write($0.rawValue, &byte, 1) } == 1)
    }

    /// Takes one byte from `near`.
    @discardableResult
    func receive() -> UInt8 {
        var byte: UInt8 = 0
        precondition(read(near.rawValue, &byte, 1) == 1)
        return byte
    }

    func closeFar() { far = nil }
}
