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

    /// Takes markup of the helpers in ``HTML``, which escape what they get.
    init(made html: String) { self.html = html }

    /// Returns the markup if something holds, otherwise none.
    static func when(_ holds: Bool, _ part: @autoclosure () -> Markup) -> Markup { holds ? part() : "" }

    var isEmpty: Bool { html.isEmpty }

    static func + (left: Markup, right: Markup) -> Markup { Markup(made: left.html + right.html) }

    static func += (left: inout Markup, right: Markup) { left.html += right.html }
}

/// The pictures of a page: each is a symbol of its sprite.
enum Icon: String, CaseIterable {
    case good, cross, clock, info, moon, run, bell, android, ios, web

    /// The paths of its symbol, in a box of 16.
    private var paths: String {
        switch self {
        case .good: "M8 1.5a6.5 6.5 0 1 0 0 13a6.5 6.5 0 1 0 0-13M5 8.2l2 2 4-4.4"
        case .cross: "M8 1.5a6.5 6.5 0 1 0 0 13a6.5 6.5 0 1 0 0-13M5.7 5.7l4.6 4.6M10.3 5.7l-4.6 4.6"
        case .clock: "M8 1.5a6.5 6.5 0 1 0 0 13a6.5 6.5 0 1 0 0-13M8 4.2V8l2.6 1.7"
        case .info: "M8 1.5a6.5 6.5 0 1 0 0 13a6.5 6.5 0 1 0 0-13M8 7.2v4M8 4.8v.2"
        case .moon: "M13 9.6A5.6 5.6 0 0 1 6.4 3a5.6 5.6 0 1 0 6.6 6.6"
        case .run: "M8 1.5v3M8 11.5v3M1.5 8h3M11.5 8h3M3.4 3.4l2 2M10.6 10.6l2 2M3.4 12.6l2-2M10.6 5.4l2-2"
        case .bell: "M3 12c2-2 1-5 2-7a3.3 3.3 0 0 1 6 0c1 2 0 5 2 7zM7 14h2"
        case .android: "M3 11a5 5 0 0 1 10 0zM4 3l1.6 2.6M12 3l-1.6 2.6M6 9v.1M10 9v.1"
        case .ios: "M5 1.5h6a1 1 0 0 1 1 1v11a1 1 0 0 1-1 1H5a1 1 0 0 1-1-1v-11a1 1 0 0 1 1-1M7 12.5h2"
        case .web: "M1.5 3.5h13v9h-13zM1.5 6h13M3.5 4.8v.1"
        }
    }

    /// Its picture, which says nothing to a reader of the screen: words stand beside it.
    var image: Markup { "<svg class=\"i\" aria-hidden=\"true\"><use href=\"#\(rawValue)\"/></svg>" }

    /// All symbols, once in a page.
    static let sprite: Markup = {
        let symbols = allCases.map { icon -> Markup in
            "<symbol id=\"\(icon.rawValue)\" viewBox=\"0 0 16 16\"><path d=\"\(icon.paths)\"/></symbol>"
        }
        return "<svg class=\"sprite\" aria-hidden=\"true\">\(symbols)</svg>"
    }()
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
