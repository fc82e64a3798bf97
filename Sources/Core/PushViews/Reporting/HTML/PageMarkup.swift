import PushModel

/// A part of a page. A text that is put into it is escaped, because its type says that it is no markup: a forgotten
/// escape does not compile.
///
///     let row: Markup = "<b>\(title)</b>\(buttons)"
struct Markup: ExpressibleByStringInterpolation, Sendable {
    /// The markup, as a browser gets it.
    private(set) var html: String

    struct StringInterpolation: StringInterpolationProtocol {
        fileprivate var html = ""

        init(literalCapacity: Int, interpolationCount: Int) { html.reserveCapacity(literalCapacity * 2) }

        mutating func appendLiteral(_ literal: String) { html += literal }

        /// Puts in a text, escaped, with marks of steering shown.
        mutating func appendInterpolation(_ text: String) { html += markup(text) }

        mutating func appendInterpolation(_ number: some BinaryInteger) { html += String(number) }

        mutating func appendInterpolation(_ number: SequenceNumber) { html += String(number.value) }

        mutating func appendInterpolation(_ part: Markup) { html += part.html }

        /// Puts in a part, if it is there.
        mutating func appendInterpolation(_ part: Markup?) { if let part { html += part.html } }

        mutating func appendInterpolation(_ parts: [Markup]) { for part in parts { html += part.html } }
    }

    init(stringLiteral value: String) { html = value }

    init(stringInterpolation: StringInterpolation) { html = stringInterpolation.html }

    /// Takes markup that somebody has escaped.
    init(made html: String) { self.html = html }

    /// Returns the markup if something holds, otherwise none.
    static func when(_ holds: Bool, _ part: @autoclosure () -> Markup) -> Markup { holds ? part() : "" }

    var isEmpty: Bool { html.isEmpty }

    static func + (left: Markup, right: Markup) -> Markup { Markup(made: left.html + right.html) }

    static func += (left: inout Markup, right: Markup) { left.html += right.html }
}

/// The pictures of a page: each is a symbol of `icons.svg`, which stands once in a page.
enum Icon: String, CaseIterable {
    case good, cross, clock, info, moon, run, bell, android, ios, web

    /// Its picture, which says nothing to a reader of the screen: words stand beside it.
    var image: Markup { "<svg class=\"i\" aria-hidden=\"true\"><use href=\"#\(rawValue)\"/></svg>" }

    static let sprite = Markup(made: String(decoding: PackageResources.icons_svg, as: UTF8.self))
}

extension Platform {
    var icon: Icon {
        switch self {
        case .android: .android
        case .ios: .ios
        case .web: .web
        }
    }
}
