public import PushModel
import PushRouter

extension Settings: Fillable {}

extension Schema<Settings> {
    /// `pushrouterd.conf` and its drop-ins.
    static let main = Schema(
        keys: .daemonSection + .dispatchSection + .brazeSection + .deadlineSection + .storeSection + .sharedLogKeys
            + .journalSection
            + .trackerSection + .usersTrackSection,
        objection: objectionToSecret)
}

/// Returns the objection to a key that seems to hold the API key itself in a file that others can read.
@Sendable private func objectionToSecret(section: String, key: String) -> String? {
    let name = key.lowercased()
    guard section == "UsersTrack", name != "keyfile",
        ["key", "token", "secret", "authorization", "bearer", "password"].contains(where: { name.has($0) })
    else { return nil }
    return "do not put the API key here, where others can read it: put it alone into a file that only its owner can "
        + "read and name that with KeyFile=, or give the service the systemd credential users-track-key; "
        + "make a new key, since others may have read this one"
}

extension Form<Duration> {
    /// A window or a timeout of the tracker's rules.
    static let trackerTime = timeSpan(.seconds(1) ... .seconds(30 * 86_400))

    /// The budget of an invocation. The platform's rule is 9 s, so the configuration can only shorten it.
    static let budget = timeSpan(
        .milliseconds(1) ... .seconds(9), reason: ": push callbacks must be done within 9s, by Braze's rule for apps")
}

extension Form<Percent> {
    /// A share of due invocations, below 100 %, so that there is an error budget.
    static let objective = Form { text throws(ValueError) in
        guard let percent = Percent(text), percent.millionths > 0, percent.millionths < 100_000_000 else {
            throw ValueError("must be a percentage above 0 and below 100, such as 99.9%")
        }
        return percent
    }
}

extension Form<[PresentationOption]?> {
    /// Apple's names of presentation options, or `none`; without a text the default applies.
    static let presentation = Form { text throws(ValueError) in
        text == "none" ? [] : try Form<PresentationOption>.choice.list.parse(text)
    }
}

extension Form<String> {
    /// A group's name or number, with the names that `groupadd` accepts.
    static let groupName = Form { text throws(ValueError) in
        guard text.utf8.allSatisfy({ $0.isNameByte }), text.utf8.first != UInt8(ascii: "-") else {
            throw ValueError("must be the name or number of a group")
        }
        return text
    }

    /// A key of a payload.
    static let payloadKey = Form { text throws(ValueError) in
        guard !text.utf8.contains(where: \.isWhitespace) else { throw ValueError("must be one key, without spaces") }
        return text
    }

    /// The stem of a `.handler` or `.route` file.
    static let stem = Form { text throws(ValueError) in
        guard text.utf8.allSatisfy({ $0.isNameByte || $0 == UInt8(ascii: ".") }), text.first != ".", !text.isEmpty
        else { throw ValueError("must be a name of letters, digits, and - _ .") }
        return text
    }
}

extension UInt8 {
    fileprivate var isNameByte: Bool {
        isLetter || isDigit || self == UInt8(ascii: "-") || self == UInt8(ascii: "_")
    }
}
