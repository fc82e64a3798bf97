import Glibc

/// A text that nobody may see: its memory is overwritten when it goes. Not to be copied into arrays or strings, which are
/// not.
public final class Secret {
    private let memory: UnsafeMutableRawBufferPointer
    private let count: Int

    /// - Parameters:
    ///   - capacity: the most bytes it may have.
    ///   - fill: writes the text, and says how long it is; called once.
    public init<Failure: Error>(
        capacity: Int, fill: (UnsafeMutableRawBufferPointer) throws(Failure) -> Int
    ) throws(Failure) {
        // One more for the NUL that C wants.
        let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: capacity + 1, alignment: 1)
        memory.initializeMemory(as: CChar.self, repeating: 0)
        do throws(Failure) {
            count = try fill(UnsafeMutableRawBufferPointer(rebasing: memory[..<capacity]))
        } catch {
            Self.dispose(of: memory)
            throw error
        }
        precondition(0...capacity ~= count, "a secret is as long as its memory at most")
        self.memory = memory
    }

    deinit { Self.dispose(of: memory) }

    /// Shows the text, with a NUL after it; the pointer is good until `body` returns.
    func withCString<Failure: Error>(_ body: (UnsafePointer<CChar>) throws(Failure) -> Void) throws(Failure) {
        guard let start = memory.baseAddress else { preconditionFailure("a secret has at least its NUL") }
        try body(start.assumingMemoryBound(to: CChar.self))
    }

    private static func dispose(of memory: UnsafeMutableRawBufferPointer) {
        if let start = memory.baseAddress { explicit_bzero(start, memory.count) }
        memory.deallocate()
    }
}
