import Testing

@testable import PushModel

@Suite("Identifiers")
struct IdentifierTests {
    private let id = UUID128(high: 0x0123_4567_89AB_CDEF, low: 0xFEDC_BA98_7654_3210)

    @Test(
        "a UUID is read with and without hyphens, in either case",
        arguments: [
            "01234567-89ab-cdef-fedc-ba9876543210", "0123456789abcdeffedcba9876543210",
            "01234567-89AB-CDEF-FEDC-BA9876543210",
        ])
    func reading(text: String) {
        #expect(UUID128(text) == id)
    }

    @Test(
        "any other text is no UUID",
        arguments: [
            "", "-", "0123456789abcdeffedcba987654321", "0123456789abcdeffedcba98765432100",
            "0123456789abcdeffedcba98765432100123456789abcdeffedcba9876543210",
            "0123456789abcdeffedcba987654321g", " 0123456789abcdeffedcba9876543210",
            "{0123456789abcdeffedcba9876543210}",
        ])
    func refusing(text: String) {
        #expect(UUID128(text) == nil)
    }

    @Test("a UUID prints in lower case with hyphens and reads back")
    func printing() {
        #expect(id.description == "01234567-89ab-cdef-fedc-ba9876543210")
        let small = UUID128(high: 0, low: 1)
        #expect(small.description == "00000000-0000-0000-0000-000000000001")
        #expect(UUID128(small.description) == small)
    }

    @Test("invocations are ordered by requests, then by calls")
    func order() {
        let ids = [(1, 0), (1, 1), (2, 0), (10, 0)].map { InvocationID(seq: SequenceNumber($0.0), n: $0.1) }
        #expect(ids.reversed().sorted() == ids)
        #expect(SequenceNumber(9).next == SequenceNumber(10))
        #expect(SequenceNumber(41).description == "41")
    }
}
