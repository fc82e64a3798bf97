import PushModel

/// The forms of an export.
enum ExportForm: Sendable {
    /// A table of a dashboard.
    case table
    /// The answer of Braze's `/campaigns/data_series` or `/sends/data_series` (braze-docs,
    /// `_docs/_api/endpoints/export/campaigns/get_campaign_analytics.md` and `get_send_analytics.md`).
    case series
    /// Events of Braze's Currents as JSON lines (Appboy/currents-examples, `s3-sample-data` and `sample-data/Custom HTTP`).
    case currents
    /// The answer of FCM's Data API (fcmdata.v1beta1.json, revision 20260726).
    case fcm

    /// The form, for people.
    var meaning: String {
        switch self {
        case .table: "a table"
        case .series: "an answer of data_series"
        case .currents: "events of Currents"
        case .fcm: "an answer of the FCM Data API"
        }
    }
}

/// Joins lines to JSON documents: one a line, or one that has many lines.
struct JSONLines: Sendable {
    /// A document with its first line, or the reason why a line begins none.
    enum Step {
        case document(line: Int, JSONNode)
        case fault(line: Int, message: String)
    }

    /// The longest document, in bytes.
    static let bytesMax = 16 << 20

    private var bytes: [UInt8] = []
    private var (first, depth) = (0, 0)

    /// Takes a line without its line feed, and returns what ends with it.
    mutating func add(_ line: [UInt8], number: Int) -> [Step] {
        guard line.contains(where: { !$0.isJSONWhiteSpace }) else { return [] }
        var steps: [Step] = []
        // Behind a line that was cut off the next one begins a document where no value can be.
        if let last = bytes.last(where: { !$0.isJSONWhiteSpace }), line[0] == UInt8(ascii: "{"),
            !",[:".utf8.contains(last)
        {
            steps += finish()
        }
        if bytes.isEmpty { first = number }
        bytes += line
        bytes.append(UInt8(ascii: "\n"))
        let isWhole = scan(line)
        guard depth <= 0 || !isWhole || bytes.count > Self.bytesMax else { return steps }
        defer { (bytes, depth) = ([], 0) }
        guard bytes.count <= Self.bytesMax else {
            return steps + [.fault(line: first, message: "the JSON is longer than \(Self.bytesMax >> 20) MiB")]
        }
        do {
            let root = try JSONDocument(scanning: bytes).root
            return steps + [.document(line: first, root)]
        } catch { return steps + [.fault(line: first, message: "not JSON: \(error.message)")] }
    }

    /// Ends the file.
    mutating func finish() -> [Step] {
        defer { (bytes, depth) = ([], 0) }
        return bytes.isEmpty ? [] : [.fault(line: first, message: "the JSON that begins here does not end")]
    }

    /// Counts brackets; returns whether no text is open at the end: JSON has no text of two lines.
    private mutating func scan(_ line: [UInt8]) -> Bool {
        var (isText, isEscaped) = (false, false)
        for byte in line {
            if isEscaped {
                isEscaped = false
            } else if isText {
                isEscaped = byte == UInt8(ascii: "\\")
                isText = byte != UInt8(ascii: "\"")
            } else {
                switch byte {
                case UInt8(ascii: "\""): isText = true
                case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
                case UInt8(ascii: "}"), UInt8(ascii: "]"): depth -= 1
                default: break
                }
            }
        }
        return !isText
    }
}

extension CampaignExport {
    /// Takes a document of a file, in the form that its members have.
    mutating func take(_ root: JSONNode, _ line: Int) throws(ExportError) {
        if root.kind == .array {
            for element in root.elements { try take(element, line) }
        } else if let events = root["events"], events.kind == .array {
            for event in events.elements { try take(event, line) }
        } else if let days = root["data"], days.kind == .array {
            try use(.series)
            for day in days.elements { try addDay(day, of: root["campaign_id"]?.string ?? fileStem, line) }
        } else if let answers = root["androidDeliveryData"], answers.kind == .array {
            try use(.fcm)
            self.answers.all += 1
            if root["nextPageToken"]?.string?.isEmpty == false { self.answers.continued += 1 }
            for answer in answers.elements { try addDelivery(answer, line) }
        } else if Self.text(root["id"]) != nil {
            try use(.currents)
            try addEvent(root, line)
        } else {
            let said = (root["error"]?["message"] ?? root["message"])?.string.map { ": \"\($0.prefix(80))\"" } ?? ""
            tell(line, "neither events of Currents nor an answer of data_series or the FCM Data API\(said)")
        }
    }

    /// The name of the file without directory and ending: a series does not name its campaign.
    private var fileStem: String {
        let name = files.last?.name.split(separator: "/").last ?? ""
        return String(name.lastIndex(of: ".").map { name[..<$0] } ?? name)
    }

    // MARK: Series

    /// Adds the variations of a day.
    private mutating func addDay(_ day: JSONNode, of campaign: String, _ line: Int) throws(ExportError) {
        guard let time = day["time"]?.string else { return tell(line, "a day without \"time\"") }
        let names = ["campaign_id", "time", "Channel"]
        for (channel, list) in day["messages"]?.members ?? [] {
            for variation in list.elements {
                guard ExportCell.channel(channel) != .other else {
                    leaveOut(.otherChannel)
                    continue
                }
                let found = Dictionary(
                    variation.members.map { ($0.key, Self.text($0.value) ?? "") },
                    uniquingKeysWith: { first, _ in first })
                if files[files.count - 1].columns == nil {
                    files[files.count - 1].columns = try ExportColumns(names + found.keys.sorted(), map)
                }
                let headings = files[files.count - 1].columns?.headings.dropFirst(names.count) ?? []
                try add(row: [campaign, time, channel] + headings.map { found[$0] ?? "" }, line)
            }
        }
    }

    /// A text or a number as text; nullable members of Avro as JSON have their type around them.
    private static func text(_ node: JSONNode?) -> String? {
        guard let node else { return nil }
        switch node.kind {
        case .string: return node.string
        case .number, .bool: return String(decoding: node.rawBytes, as: UTF8.self)
        case .object where node.count == 1: return text(node.members[0].value)
        case .object, .array, .null: return nil
        }
    }

    // MARK: Currents

    /// Adds an event: flat as in the files of Currents, or in the envelope of its custom HTTP export.
    private mutating func addEvent(_ event: JSONNode, _ line: Int) throws(ExportError) {
        let envelope = event["properties"]
        let facts = envelope?.kind == .object ? envelope ?? event : event
        guard let type = Self.text(event["event_type"]) ?? typeOfFile else {
            throw ExportError(
                """
                line \(line): an event without event_type: files of Currents have it in their path, as in \
                event_type=users.messages.pushnotification.Send/
                """)
        }
        guard let id = Self.text(event["id"]), let time = Self.text(event["time"]).flatMap({ Int64($0) }),
            abs(time) < 1 << 40
        else { return tell(line, "time: an event has the seconds since 1970") }
        var row = Row()
        switch type.split(separator: ".").drop(while: { $0 != "pushnotification" }).dropFirst().first {
        case "Send": row.figures.sent = 1
        case "Bounce": row.figures.bounces = 1
        // A press on a button that closes the notification opens nothing.
        case "Open" where Self.text(facts["button_action_type"]) != "close":
            (row.figures.direct, row.figures.total) = (1, 1)
        case "InfluencedOpen":
            row.figures.total = 1
            hasInfluenced = true
        default: return leaveOut(.otherChannel)
        }
        // Currents may deliver an event twice.
        guard isNew(id.hashValue) else { return leaveOut(.repeated) }
        switch ExportCell.channel(Self.text(facts["platform"]) ?? "") {
        case .every: break
        case .one(let platform): row.place.platform = platform
        case .other: return leaveOut(.otherChannel)
        }
        guard let campaign = Self.text(facts["campaign_id"]), !campaign.isEmpty else { return leaveOut(.noCampaign) }
        (row.campaign, row.name) = (campaign, Self.text(facts["campaign_name"]))
        row.variation = Self.text(facts["message_variation_name"])
        row.place.day = zone.day(of: time)
        try add(row, line)
    }

    /// The type of the events that the path of the file names.
    private var typeOfFile: String? {
        let key = "event_type="
        let parts = files.last?.name.split(separator: "/") ?? []
        return parts.first { $0.hasPrefix(key) }?.dropFirst(key.count).description
            ?? parts.first { $0.hasPrefix("users.") || $0.hasPrefix("messages.") }?.description
    }

    // MARK: FCM

    /// Adds what FCM accepted for Android on a day with a label, and how much of it reached no device.
    private mutating func addDelivery(_ answer: JSONNode, _ line: Int) throws(ExportError) {
        let data = answer["data"]
        guard let accepted = Self.text(data?["countMessagesAccepted"]).flatMap(ExportCell.count),
            let date = answer["date"], let year = date["year"]?.int64, let month = date["month"]?.int64,
            let day = date["day"]?.int64,
            let local = ExportCell.day("\(day).\(month).\(year)")
        else { return tell(line, "an entry without countMessagesAccepted, or without a whole date") }
        guard let label = answer["analyticsLabel"]?.string, !label.isEmpty else { return leaveOut(.noCampaign) }
        let lost = (data?["messageOutcomePercents"]?.members ?? [])
            .filter { $0.key == "collapsed" || $0.key.hasPrefix("dropped") }
            .reduce(0) { $0 + max(0, $1.value.double ?? 0) }
        var row = Row(campaign: label, place: Place(platform: .android, day: local))
        row.figures.sent = accepted
        row.figures.bounces = Int((Double(accepted) * min(100, lost) / 100).rounded())
        try add(row, line)
    }
}
