import Testing

@testable import PushModel
@testable import PushViews

@Suite("The colours of the pages")
struct HTMLContrastTests {
    private static let html: String = {
        let rows = (1...2000).map { row(Int64($0), .handled, exec: .milliseconds($0 == 7 ? 5000 : 3)) }
        var detail = ReportDetail()
        for row in rows { detail.add(row) }
        return ReportDocument(report: report(rows), detail: detail).html
    }()

    enum Scheme: Int, CaseIterable { case light, dark }

    /// The colours of a scheme by name: each is `light-dark(LIGHT,DARK)` in the one `:root`.
    private static func palette(_ scheme: Scheme) throws -> [String: String] {
        let root = try #require(html.split(separator: ":root{").dropFirst().first?.prefix { $0 != "}" })
        var colours: [String: String] = [:]
        for rule in root.split(separator: ";") where rule.contains("light-dark(") {
            let parts = rule.split(separator: ":").map { String($0.filter { !$0.isWhitespace }) }
            let both = parts[1].dropFirst("light-dark(".count).dropLast().split(separator: ",")
            colours[parts[0]] = String(both[scheme.rawValue])
        }
        return colours
    }

    @Test("text is readable on the ground and on cards, in each scheme", arguments: Scheme.allCases)
    func text(scheme: Scheme) throws {
        let palette = try Self.palette(scheme)
        for name in ["--text", "--soft", "--link", "--bad", "--good", "--warn"] {
            for ground in ["--bg", "--card"] {
                let contrast = try Self.contrast(palette[name], palette[ground])
                #expect(contrast >= 4.5, "\(name) on \(ground): \(contrast)")
            }
        }
    }

    @Test("lines and bars are visible", arguments: Scheme.allCases)
    func drawings(scheme: Scheme) throws {
        let palette = try Self.palette(scheme)
        for name in ["--axis", "--bad", "--ran", "--fail", "--late", "--good"] {
            let contrast = try Self.contrast(palette[name], palette["--bg"])
            #expect(contrast >= 3, "\(name): \(contrast)")
        }
    }

    @Test("every drawing uses colours of the palette, none with reduced opacity")
    func kinds() throws {
        for element in ["<rect class=\"", "<line class=\""] {
            let kinds = Set(Self.html.split(separator: element).dropFirst().map { String($0.prefix { $0 != "\"" }) })
            for kind in kinds {
                let rule = try #require(
                    Self.html.firstRange(of: ".\(kind){") ?? Self.html.firstRange(of: ".\(kind),"),
                    "no style of \(kind)")
                let style = Self.html[rule.upperBound...].prefix { $0 != "}" }
                #expect(
                    style.contains("var(--") && (kind == "g" || !style.contains("var(--line)")), "\(kind): \(style)")
            }
        }
    }

    /// The contrast of two colours `#rgb` or `#rrggbb`, by WCAG 2.2 (https://www.w3.org/TR/WCAG22/#dfn-contrast-ratio).
    private static func contrast(_ first: String?, _ second: String?) throws -> Double {
        let luminances = [try luminance(first), try luminance(second)].sorted()
        return (luminances[1] + 0.05) / (luminances[0] + 0.05)
    }

    private static func luminance(_ colour: String?) throws -> Double {
        var digits = try #require(colour, "a colour is not in the palette").dropFirst().map { String($0) }
        if digits.count == 3 { digits = digits.flatMap { [$0, $0] } }
        let channels = try stride(from: 0, to: 6, by: 2).map { place in
            let value = Double(try #require(Int(digits[place] + digits[place + 1], radix: 16))) / 255
            return value <= 0.04045 ? value / 12.92 : power((value + 0.055) / 1.055)
        }
        return 0.2126 * channels[0] + 0.7152 * channels[1] + 0.0722 * channels[2]
    }

    /// `base` to the power of 2.4: the fifth root of its twelfth power, by Newton's rule.
    private static func power(_ base: Double) -> Double {
        let target = (0..<12).reduce(1.0) { power, _ in power * base }
        return (0..<60).reduce(1.0) { root, _ in
            (4 * root + target / (root * root * root * root)) / 5
        }
    }
}
