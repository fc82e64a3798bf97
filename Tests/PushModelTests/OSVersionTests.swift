import Testing

@testable import PushModel

@Suite("Versions of operating systems")
struct OSVersionTests {
    @Test(
        "the version of an operating system has one to three numbers",
        arguments: [("14", 14), ("9.3", 9), ("17.4.1", 17), ("013", 13), ("0", 0)])
    func readable(_ text: String, _ major: Int) {
        #expect(OSVersion(text)?.major == major)
    }

    @Test(
        "the version of an operating system has no other form",
        arguments: [
            "", ".", "14.", ".14", "14..1", "14.0.0.1", "iOS 14", "14a", "-1", "+1", " 14", "14 ", "１４", "9999999999",
        ])
    func unreadable(_ text: String) {
        #expect(OSVersion(text) == nil)
    }
}
