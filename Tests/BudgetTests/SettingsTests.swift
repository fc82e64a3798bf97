import TestSupport
import Testing

@testable import PushSettings

/// Figures of a debug build; upper bounds, as in ``AllocationTests``.
@Suite(
    "The memory that reading a configuration asks for",
    .needs("an allocator without a sanitizer", if: Allocations.isCounted))
struct SettingsTests {
    /// The shipped rules of providers have most of them: each says where and when its source was read.
    private static let allocationsMax = 96_000

    @Test("is bounded for the shipped configuration, which each start reads")
    func shipped() {
        // A first load, not counted, makes the one-time allocations.
        _ = Settings.load(.shipped)
        let (loaded, count, bytes) = Allocations.count { Settings.load(.shipped) }
        #expect(loaded.settings != nil)
        #expect(count <= Self.allocationsMax, "\(count) allocations of \(bytes) bytes")
        #expect(count > 100, "or nothing was counted")
    }
}
