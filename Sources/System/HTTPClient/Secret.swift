import CLinux
import Glibc

/// A secret text whose memory is overwritten at its release. Not to be copied into arrays or strings, which are not
/// overwritten.
public final class Secret {
    private let memory: UnsafeMutableRawBufferPointer
    private let count: Int

    /// - Parameters:
    ///   - capacity: the largest number of bytes.
    ///   - fill: writes the text and returns its length; called once.
    public init<Failure: Error>(
        capacity: Int, fill: (UnsafeMutableRawBufferPointer) throws(Failure) -> Int
    ) throws(Failure) {
        let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: capacity, alignment: 1)
        memory.initializeMemory(as: UInt8.self, repeating: 0)
        do throws(Failure) {
            count = try fill(memory)
        } catch {
            Self.dispose(of: memory)
            throw error
        }
        precondition(0...capacity ~= count, "a secret is as long as its memory at most")
        self.memory = memory
    }

    deinit { Self.dispose(of: memory) }

    /// Calls `body` with the text after a prefix, with a NUL at the end; the pointer is valid until `body` returns, and
    /// the memory is then overwritten.
    func withCString<Failure: Error>(
        after prefix: StaticString, _ body: (UnsafePointer<CChar>) throws(Failure) -> Void
    ) throws(Failure) {
        let length = prefix.utf8CodeUnitCount
        let line = UnsafeMutableRawBufferPointer.allocate(byteCount: length + count + 1, alignment: 1)
        line.initializeMemory(as: CChar.self, repeating: 0)
        defer { Self.dispose(of: line) }
        line.copyMemory(from: UnsafeRawBufferPointer(start: prefix.utf8Start, count: length))
        UnsafeMutableRawBufferPointer(rebasing: line[length...]).copyMemory(from: text)
        guard let start = line.baseAddress else { preconditionFailure("the line has at least its NUL") }
        try body(start.assumingMemoryBound(to: CChar.self))
    }

    /// Replaces each copy of the text in some bytes by asterisks.
    func mask(in bytes: inout [UInt8]) {
        guard count > 0 else { return }
        bytes.withUnsafeMutableBytes { bytes in
            var place = 0
            while place + count <= bytes.count, let start = bytes.baseAddress {
                guard let text = memory.baseAddress,
                    let found = CLinux_find(start + place, bytes.count - place, text, count)
                else { return }
                memset(found, Int32(UInt8(ascii: "*")), count)
                place = found - start + count
            }
        }
    }

    /// Calls `body` with the bytes; the pointer is valid until `body` returns.
    public func withBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        withExtendedLifetime(self) { body(text) }
    }

    private var text: UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: memory[..<count]) }

    private static func dispose(of memory: UnsafeMutableRawBufferPointer) {
        if let start = memory.baseAddress { explicit_bzero(start, memory.count) }
        memory.deallocate()
    }
}
