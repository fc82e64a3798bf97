import Glibc
import Testing

@testable import PushModel
@testable import PushSettings

/// Documentation that the compiler cannot check when someone adds a case.
@Suite("The manual pages have every word")
struct DocumentedWordsTests {
    @Test("of requests and replies, in pushrouterd(8)")
    func sockets() throws {
        let words =
            Operation.allCases.map(\.rawValue) + Outcome.allCases.map(\.rawValue) + Transport.allCases.map(\.rawValue)
        #expect(try missing(words, in: "pushrouterd.8") == [])
    }

    @Test("of a rejection of custom data, in pushrouterd(8)")
    func rejections() throws {
        #expect(try missing(RejectionCode.allCases.map(\.rawValue), in: "pushrouterd.8") == [])
    }

    @Test("of an outcome's reason, in pushrouterd(8), each with its meaning, in the order of the type")
    func reasons() throws {
        let lines = try text(of: "pushrouterd.8").split(separator: "\n", omittingEmptySubsequences: false)
        let begin = try #require(lines.firstIndex(of: #".Ss "Reason codes""#))
        let section = Array(lines[begin...].prefix { !$0.hasPrefix(".Sh ") })
        let places = section.indices.filter { section[$0].hasPrefix(".It Cm ") }
        #expect(places.map { String(section[$0].dropFirst(7)) } == ReasonCode.allCases.map(\.rawValue))
        let withoutMeaning = places.filter { section[$0 + 1].hasPrefix(".") || !section[$0 + 1].contains(" ") }
        #expect(withoutMeaning.map { section[$0] } == [])
    }

    @Test("of Type= of a handler, in pushrouterd.conf(5)")
    func handlers() throws {
        #expect(try missing(HandlerDraft.Kind.allCases.map(\.rawValue), in: "pushrouterd.conf.5") == [])
    }

    @Test("of each key, with its default and the types of handlers that have it, in pushrouterd.conf(5)")
    func keys() throws {
        let page = try text(of: "pushrouterd.conf.5")
        #expect(ConfigurationTexts.keyLists.count > 5)
        for list in ConfigurationTexts.keyLists {
            let begin = ".\\\" begin \(list.name) (packaging/generate.sh)\n"
            let isThere = page.contains("\(begin)\(list.text).\\\" end\n")
            #expect(isThere, "\(list.name): packaging/generate.sh writes it")
        }
    }

    @Test("and the limits of the code, in pushrouterd(8)")
    func limits() throws {
        func grouped(_ number: Int64) -> String {
            let digits = Array("\(number)".reversed())
            return String(
                digits.enumerated().flatMap { $0.offset > 0 && $0.offset % 3 == 0 ? [",", $0.element] : [$0.element] }
                    .reversed())
        }
        let sentences = [
            "there are at most \(grouped(AuditRecord.most)).",
            "at most \(grouped(Int64(ControlRequest.Operation.requestsMax))) numbers of requests",
            "holds at most \(grouped(Int64(ClaimRequest.heldMax))) entries",
            "at most \(Target.longestName) bytes, without NUL",
            "of at most \(grouped(Int64(TokenRequest.longestToken))) bytes",
        ]
        let page = try text(of: "pushrouterd.8")
        for sentence in sentences { #expect(page.contains(sentence), "\(sentence)") }
    }

    /// The words that do not stand on a page between spaces, quotes or punctuation.
    private func missing(_ words: [String], in page: String) throws -> [String] {
        let has = Set(try text(of: page).split { !($0.isLetter || $0 == "_") }.map(String.init))
        return words.filter { !has.contains($0) }
    }

    private func text(of page: String) throws -> String {
        let root = #filePath.split(separator: "/").dropLast(3).reduce(into: "") { $0 += "/" + $1 }
        let stream = try #require(fopen("\(root)/packaging/man/\(page)", "r"), "cannot open \(page)")
        defer { fclose(stream) }
        var bytes = [UInt8](repeating: 0, count: 1 << 20)
        bytes.removeLast(bytes.count - fread(&bytes, 1, bytes.count, stream))
        return String(decoding: bytes, as: UTF8.self)
    }
}
