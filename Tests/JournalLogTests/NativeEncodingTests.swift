import CSystemd
import Glibc
import Testing

@testable import LinuxSystem

@Suite("NativeEncoding", .timeLimit(.minutes(30)))
struct NativeEncodingTests {
    private func texts(_ entry: JournalEntry, _ encoding: inout NativeEncoding) -> [String] {
        encoding.withVectors(of: entry) { vectors in
            vectors.map {
                String(decoding: UnsafeRawBufferPointer(start: $0.iov_base, count: $0.iov_len), as: UTF8.self)
            }
        }
    }

    @Test(
        "writes one NAME=value for each field, with unchanged values, and nothing of the entry before"
    )
    func encodesFields() {
        var encoding = NativeEncoding()
        let first = JournalEntry(
            .error, "two\nlines = fine", messageID: .outcome,
            fields: [.init(.seq, -1), .init(.id, ""), .init(FieldName("X9_Y"), "grün")])
        #expect(
            texts(first, &encoding) == [
                "MESSAGE=two\\x0alines = fine", "PRIORITY=3", "MESSAGE_ID=\(MessageID.outcome.rawValue)", "PUSH_SEQ=-1",
                "PUSH_ID=", "X9_Y=grün",
            ])
        #expect(texts(JournalEntry(.debug, "next"), &encoding) == ["MESSAGE=next", "PRIORITY=7"])
    }
}

@Suite("Names of the journal", .timeLimit(.minutes(30)))
struct JournalNamesTests {
    // Source: journal_field_valid() of systemd; the journal drops other fields silently.
    @Test(
        "are valid field names of the journal",
        arguments: [
            ("PUSH_SEQ", true), ("A", true), ("A1", true), (String(repeating: "A", count: 64), true),
            (String(repeating: "A", count: 65), false), ("", false), ("_PID", false), ("1A", false),
            ("push", false), ("A-B", false), ("A=B", false), ("Ä", false),
        ])
    func validatesNames(name: String, valid: Bool) { #expect(FieldName.isValid(name) == valid) }

    @Test("trap if the journal would drop the field")
    func trapsOnBadNames() async {
        await #expect(processExitsWith: .failure) { _ = FieldName("_PID") }
    }

    @Test("include message ids of 128 bits in hexadecimal, each different, and explained in the catalog")
    func messageIDsAreInTheCatalog() throws {
        let catalog = try textFile(packageDirectory + "/packaging/catalog/pushrouterd.catalog")
        let explained = catalog.split(separator: "\n").filter { $0.hasPrefix("-- ") }.map { String($0.dropFirst(3)) }
        #expect(Set(explained).count == explained.count)
        #expect(Set(explained) == Set(MessageID.allCases.map(\.rawValue)))
        for id in MessageID.allCases { #expect(try #/[0-9a-f]{32}/#.wholeMatch(in: id.rawValue) != nil) }
    }

    private var packageDirectory: String {
        #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(3).joined(separator: "/")
    }

    private func textFile(_ path: String) throws -> String {
        let file = try #require(fopen(path, "r"), "no file \(path)")
        defer { fclose(file) }
        var bytes = [UInt8](repeating: 0, count: 1 << 20)
        let count = fread(&bytes, 1, bytes.count, file)
        return String(decoding: bytes.prefix(count), as: UTF8.self)
    }
}
