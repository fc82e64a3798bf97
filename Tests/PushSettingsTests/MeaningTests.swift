import Testing

@testable import PushModel
@testable import PushSettings

@Suite("The description of a setting")
struct MeaningTests {
    @Test("names the range that the setting takes")
    func ranges() throws {
        var compared = 0
        for key in Schema<Settings>.main.keys {
            // A list such as `1 to 1000 in 1ms to 1d` has no single range.
            let ranges = key.meaning.matches(of: /(\d+)(\w*) to (\d+)(\w*)/)
            guard ranges.count == 1, let range = ranges.first else { continue }
            let (above, unit) = (try #require(Int(range.output.3)) * 1000 + 1, range.output.4)
            let diagnostics = main(key.section, "\(key.name)=\(above)\(unit)").diagnostics
            guard let refusal = diagnostics.first(where: { $0.has("must be from") }) else { continue }
            #expect(refusal.has("must be from \(range.output.0)"), "\(key.name)=: \(refusal)")
            compared += 1
        }
        #expect(compared >= 30)
    }
}
