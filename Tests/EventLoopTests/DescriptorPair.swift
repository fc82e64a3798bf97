import Glibc

/// Two connected stream sockets.
final class DescriptorPair {
    let near: Int32
    private(set) var far: Int32

    init() {
        var descriptors: [Int32] = [-1, -1]
        precondition(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &descriptors) == 0)
        (near, far) = (descriptors[0], descriptors[1])
    }

    deinit {
        close(near)
        closeFar()
    }

    /// Makes `near` readable.
    func send(_ byte: UInt8 = 0) {
        var byte = byte
        precondition(write(far, &byte, 1) == 1)
    }

    /// Takes one byte from `near`.
    @discardableResult
    func receive() -> UInt8 {
        var byte: UInt8 = 0
        precondition(read(near, &byte, 1) == 1)
        return byte
    }

    func closeFar() {
        if far >= 0 { close(far) }
        far = -1
    }
}
