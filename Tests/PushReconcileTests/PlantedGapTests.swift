import TestSupport
import Testing

@testable import PushModel
@testable import PushRouter
@testable import PushViews

/// A world with planted gaps: what a ledger has of it, and what a dashboard would export. It shares nothing with the code
/// that compares both.
private struct World {
    /// The gaps of a campaign, by code.
    typealias Plants = [String: Int]

    /// The figures of a day and a platform that the dashboard has.
    struct Sums {
        var sent = 0
        var bounces = 0
        var direct = 0
        var total = 0
    }

    struct Planted {
        var plants: Plants = [:]
        /// Pushes that the ledger has not seen.
        var unseen = 0
        var (seen, direct, influenced) = (0, 0, 0)
        var sums: [String: Sums] = [:]
    }

    private static let start: Int64 = 1_790_000_000
    private static let gaps = ["direct_missing", "direct_extra", "influenced_missing", "influenced_extra"]

    /// The form of its export.
    enum Form: CaseIterable { case table, series, currents, fcm }

    var random: SeededGenerator
    let offset: Int64
    let hasDays: Bool
    let hasPlatforms: Bool
    var campaigns: [String: Planted] = [:]
    var platforms: [String: Platform] = [:]
    var garbage = 0
    let form: Form
    /// Whether the events of Currents have influenced opens.
    let hasInfluenced: Bool

    init(seed: UInt64, _ form: Form) {
        random = SeededGenerator(seed: seed)
        self.form = form
        offset = Int64.random(in: -11...13, using: &random) * 3600
        hasDays = Bool.random(using: &random)
        hasPlatforms = Bool.random(using: &random)
        hasInfluenced = Bool.random(using: &random)
    }

    /// Whether the form can have what a gap is about.
    func canShow(_ code: String) -> Bool {
        switch form {
        case .table, .series: true
        case .currents: hasInfluenced || code != "undecided" && !code.hasPrefix("influenced")
        case .fcm: code != "undecided" && !code.hasPrefix("influenced") && !code.hasPrefix("direct")
        }
    }

    private mutating func number(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &random) }
    private mutating func coin(_ chance: Int = 2) -> Bool { number(1...chance) == 1 }

    private func day(_ time: Int64) -> String {
        String(WallTime(milliseconds: (time + offset) * 1000).rfc3339.prefix(10))
    }

    /// Plants a campaign, and feeds what the ledger has of it.
    mutating func plant(_ name: String, _ feed: inout Feed) {
        var planted = Planted()
        let platform = form == .fcm ? Platform.android : Platform.allCases[number(0...2)]
        platforms[name] = platform
        func add(_ planted: inout Planted, _ time: Int64, _ change: (inout Sums) -> Void) {
            change(&planted.sums[day(time), default: Sums()])
        }
        // A dashboard has a row for each day, also without figures.
        for passed in 0...6 { add(&planted, Self.start + Int64(passed) * 86_400) { _ in } }
        let gap = coin(3) ? nil : Self.gaps[number(0...3)]
        let wanted = gap == nil ? 0 : number(1...6)
        var left = wanted
        for _ in 0..<number(20...60) {
            let time = Self.start + Int64(number(0...3 * 86_400))
            let push = feed.push(name, platform, at: time)
            planted.seen += 1
            add(&planted, time) { $0.sent += 1 }
            switch number(0...4) {
            case 0:
                let tap = time + Int64(number(1...40_000))
                feed.open(push, name, platform, at: tap)
                planted.direct += 1
                if gap == "direct_missing", left > 0 {
                    left -= 1
                    let comesBack = coin()
                    add(&planted, tap) { $0.total += comesBack ? 1 : 0 }
                } else {
                    let isTwice = gap == "direct_extra" && left > 0
                    if isTwice { left -= 1 }
                    add(&planted, tap) {
                        $0.direct += isTwice ? 2 : 1
                        $0.total += isTwice ? 2 : 1
                    }
                }
            case 1:
                let session = time + Int64(number(1...1799))
                feed.session(push, name, platform, at: session)
                planted.influenced += 1
                if gap == "influenced_missing", left > 0 { left -= 1 } else { add(&planted, session) { $0.total += 1 } }
            case 2:
                // Too late for this ledger's window, or in time and not decided when its daemon ended.
                let isUndecided = gap == "influenced_extra" && left > 0 && coin()
                let session = time + Int64(isUndecided ? number(1...1799) : number(1800...80_000))
                feed.session(push, name, platform, at: session, counts: false, isUndecided: isUndecided)
                if gap == "influenced_extra", left > 0 {
                    left -= 1
                    if isUndecided { planted.plants["undecided", default: 0] += 1 }
                    add(&planted, session) { $0.total += 1 }
                }
            default: break
            }
        }
        if let gap, wanted > left { planted.plants[gap] = wanted - left }
        plantLost(name, platform, &planted, &feed)
        // Pushes to devices that the ledger does not see.
        planted.unseen = coin() ? 0 : number(1...(coin(4) && form != .currents ? 1_500 : 80))
        for _ in 0..<planted.unseen {
            let time = Self.start + Int64(number(0...3 * 86_400))
            let act = number(0...3)
            add(&planted, time) {
                $0.sent += 1
                if act == 0 { $0.direct += 1 }
                if act < 2 { $0.total += 1 }
            }
        }
        if coin() {
            for _ in 0..<number(1...9) {
                add(&planted, Self.start) {
                    $0.sent += 1
                    $0.bounces += 1
                }
            }
        }
        campaigns[name] = planted
    }

    /// Plants pushes and taps that Braze never sees.
    private mutating func plantLost(
        _ name: String, _ platform: Platform, _ planted: inout Planted, _ feed: inout Feed
    ) {
        let others: [(code: String, outcome: Outcome)] = [
            ("shown_by_system", .shownBySystem), ("other_owner", coin() ? .handled : .ownReceiver),
            ("not_woken", .notWoken), ("no_instance", .sdkNotReady),
        ]
        for (code, outcome) in others where coin(3) {
            // The platforms on which it happens, with payloads that name the campaign as Android's do.
            let fits = code == "no_instance" ? platform == Platform.ios : platform == Platform.android
            guard fits else { continue }
            let count = number(1...30)
            planted.plants[code] = count
            for _ in 0..<count {
                let time = Self.start + Int64(number(0...3 * 86_400))
                if code == "no_instance" {
                    // The tap is lost, its session counts.
                    let push = feed.push(name, platform, at: time)
                    feed.row(
                        outcome, Feed.tap(message: "\"m\(push)\""), .interact, platform, at: time + 30)
                    feed.session(push, name, platform, at: time + 30)
                    planted.influenced += 1
                    planted.sums[day(time + 30), default: Sums()].total += 1
                } else {
                    let isOther = code == "other_owner"
                    feed.row(
                        outcome,
                        Feed.line(
                            cid: name, mark: isOther ? #""_ab":"TRUE","# : #""_ab":"true","#,
                            notification: code == "shown_by_system" ? #""notification":{"title":"T"},"# : ""),
                        provider: isOther ? nil : "braze", at: time)
                }
                planted.seen += 1
                planted.sums[day(time), default: Sums()].sent += 1
            }
        }
    }

    /// The files of the export, each with its name.
    mutating func files() -> [(name: String, text: String)] {
        switch form {
        case .table: [("braze.csv", table())]
        case .series: campaigns.keys.sorted().map { ("of/\($0).json", series($0)) }
        case .currents: [("currents.json", currents())]
        case .fcm: [("fcm.json", fcm())]
        }
    }

    /// The answer about a campaign, on one line or many.
    private mutating func series(_ name: String) -> String {
        let end = coin() ? "\n  " : ""
        let channel = "\(platforms[name]?.rawValue ?? "")_push"
        let days = (campaigns[name]?.sums ?? [:]).map { day, sums in
            let figures =
                #""sent":\#(sums.sent),"bounces":\#(sums.bounces),"direct_opens":\#(sums.direct),"total_opens":\#(sums.total)"#
            return #"{"time":"\#(day)","messages":{"\#(channel)":[{\#(figures)}],"email":[{"sent":9}]}}"#
        }
        return "{\"data\":[\(end)\(days.joined(separator: ",\(end)"))],\(end)\"message\":\"success\"}\n"
    }

    /// An event for each thing that happened, some of them twice.
    private mutating func currents() -> String {
        var lines: [String] = []
        // Something is sent each day: the days of the events are those that are compared.
        for passed in 0...6 {
            let head = "\"event_type\":\"users.messages.pushnotification.Send\",\"id\":\"daily \(passed)\""
            lines.append("{\(head),\"campaign_id\":\"daily\",\"time\":\(Self.start + Int64(passed) * 86_400)}")
        }
        if hasInfluenced {
            // Of a canvas: the files have such events, whichever of the campaigns they lack.
            lines.append("{\"event_type\":\"users.messages.pushnotification.InfluencedOpen\",\"id\":\"c\",\"time\":1}")
        }
        for (name, planted) in campaigns.sorted(by: { $0.key < $1.key }) {
            for (day, sums) in planted.sums.sorted(by: { $0.key < $1.key }) {
                let noon = (WallTime(rfc3339: "\(day)T12:00:00Z")?.seconds ?? 0) - offset
                let influenced = hasInfluenced ? sums.total - sums.direct : 0
                for (type, count) in [
                    ("Send", sums.sent), ("Bounce", sums.bounces), ("Open", sums.direct),
                    ("InfluencedOpen", influenced),
                ] {
                    for _ in 0..<count {
                        let head =
                            "\"event_type\":\"users.messages.pushnotification.\(type)\",\"id\":\"\(lines.count)\""
                        let time = "\"time\":\(noon + Int64(number(-40_000...40_000)))"
                        let facts = "\"campaign_id\":\"\(name)\",\"platform\":\"\(platforms[name]?.rawValue ?? "")\""
                        lines.append(
                            coin() ? "{\(head),\(time),\(facts)}" : "{\(head),\"properties\":{\(facts)},\(time)}")
                        if coin(9) { lines.append(lines[lines.count - 1]) }
                    }
                }
            }
        }
        garbage = number(0...3)
        for _ in 0..<garbage { lines.insert("{\"id\":\"cut", at: number(0...lines.count)) }
        return lines.joined(separator: "\n")
    }

    /// The answer about all labels.
    private func fcm() -> String {
        let entries = campaigns.flatMap { name, planted in
            planted.sums.map { day, sums in
                let date = day.split(separator: "-").compactMap { Int($0) }
                let lost = sums.sent == 0 ? 0 : Double(sums.bounces) * 100 / Double(sums.sent)
                return
                    #"{"analyticsLabel":"\#(name)","date":{"year":\#(date[0]),"month":\#(date[1]),"day":\#(date[2])},"#
                    + #""data":{"countMessagesAccepted":"\#(sums.sent)","messageOutcomePercents":{"droppedTtlExpired":\#(lost)}}}"#
            }
        }
        return "{\"androidDeliveryData\":[\(entries.joined(separator: ",\n"))]}"
    }

    /// The table, in one of the forms that dashboards write.
    private mutating func table() -> String {
        let separator = [",", ";", "\t"][number(0...2)]
        let end = coin() ? "\r\n" : "\n"
        let mark = [",", ".", " ", ""][number(0...3)]
        func cell(_ text: String, _ quoted: Bool) -> String {
            quoted || text.contains(where: { separator.contains($0) }) ? "\"\(text)\"" : text
        }
        var rows = [
            ["Campaign Name"] + (hasDays ? ["Date"] : []) + (hasPlatforms ? ["Channel"] : []) + [
                "Sends", "Revenue", "bounces", "Direct Opens", "Total Opens",
            ]
        ]
        for (name, planted) in campaigns.sorted(by: { $0.key < $1.key }) {
            let platform = platforms[name] ?? .ios
            let channel = coin() ? "\(platform.rawValue)_push" : "\(platform.rawValue.uppercased()) Push"
            var parts = planted.sums.map { ($0.key, $0.value) }.sorted { $0.0 < $1.0 }
            if !hasDays {
                let all = parts.reduce(into: Sums()) { sum, part in
                    sum.sent += part.1.sent
                    sum.bounces += part.1.bounces
                    sum.direct += part.1.direct
                    sum.total += part.1.total
                }
                parts = [("", all)]
            }
            for (day, sums) in parts {
                // Two variations of which each has a part.
                let some = Sums(
                    sent: number(0...sums.sent), bounces: number(0...sums.bounces), direct: number(0...sums.direct),
                    total: number(0...sums.total))
                let others = Sums(
                    sent: sums.sent - some.sent, bounces: sums.bounces - some.bounces,
                    direct: sums.direct - some.direct, total: sums.total - some.total)
                for part in coin() ? [sums] : [some, others] {
                    let counts = [part.sent, 0, part.bounces, part.direct, part.total].map { count in
                        count < 1000
                            ? "\(count)" : "\(count / 1000)\(mark)\(String(count % 1000 + 1000).dropFirst())"
                    }
                    rows.append([name] + (hasDays ? [day] : []) + (hasPlatforms ? [channel] : []) + counts)
                }
            }
        }
        var lines = rows.map { row in row.map { cell($0, coin(4)) }.joined(separator: separator) }
        garbage = number(0...3)
        for index in 0..<garbage {
            lines.insert(index == 0 ? "\"x\"y" : "total \(index)", at: number(1...lines.count))
        }
        return lines.joined(separator: end) + (coin() ? end : "")
    }
}

@Suite("Exports with planted gaps, by seed", .timeLimit(.minutes(30)))
struct PlantedGapTests {
    /// The seeds of a form.
    private func seeds(_ form: World.Form) -> Range<UInt64> {
        let all: UInt64 = form == .table ? 1000 : 250
        return Search.firstSeed..<Search.firstSeed + (Search.isFull ? all : all / 5)
    }

    @Test("each gap is found within its bounds, and nothing else is named", arguments: World.Form.allCases)
    fileprivate func found(_ form: World.Form) throws {
        var (named, hidden) = (0, 0)
        for seed in seeds(form) {
            var world = World(seed: seed, form)
            let zone = LocalZone(name: "Z") { [offset = world.offset] _ in offset }
            // Planted twice alike: the export decides which time the ledger's side reads.
            var rehearsal = Feed(LedgerSide(beside: CampaignExport(), zone: zone))
            let names = (0...Int(seed % 4)).map { "campaign \($0)" }
            var first = world
            for name in names { first.plant(name, &rehearsal) }
            var table = CampaignExport(zone: zone)
            for file in first.files() { try read(file.text, into: &table, file: file.name) }
            #expect(table.problems.count == first.garbage, "seed \(seed): \(table.notes)")
            var feed = Feed(LedgerSide(beside: table, zone: zone))
            for name in names { world.plant(name, &feed) }
            _ = feed.push("only here", at: 1_790_000_000)
            let result = Reconciliation(table, feed.complete)
            #expect(result.campaigns.map(\.name) == names && result.onlyHere == ["only here"], "seed \(seed)")
            for campaign in result.campaigns {
                let planted = try #require(world.campaigns[campaign.name])
                let about = "seed \(seed), \(campaign.name): \(planted.plants), found \(campaign.sentences)"
                #expect(campaign.ours.seen == planted.seen && campaign.unseen == planted.unseen, "\(about)")
                #expect(campaign.ours.direct == planted.direct, "\(about)")
                #expect(campaign.ours.influenced == planted.influenced, "\(about)")
                var rest = planted.plants
                for sentence in campaign.sentences {
                    let count = rest.removeValue(forKey: sentence.code.rawValue)
                    #expect(count.map(sentence.bounds.contains) == true, "\(about)")
                    if sentence.sure == "certain" || planted.unseen == 0 {
                        #expect(sentence.bounds.count == 1, "\(about)")
                    }
                    named += 1
                }
                // A gap that pushes which nobody saw can hide.
                let mayHide = planted.unseen > 0
                for (code, _) in rest {
                    let isOfOpens = code == "undecided" || code.hasPrefix("direct") || code.hasPrefix("influenced")
                    #expect(!world.canShow(code) || mayHide && isOfOpens, "\(about)")
                    hidden += 1
                }
            }
        }
        #expect(named > seeds(form).count / 2 && hidden > 0)
    }
}
