public import PushModel

extension WallTime {
    /// Reads a time of UTC: RFC 3339; `2026-11-21`, `today`, `yesterday`, which are the midnights that they begin with; `now`;
    /// or how long ago, as in `-90s`, `-30min`, `-1h`, `-2d`, `-1w`. `nil` for anything else.
    public init?(inWords text: String, now: WallTime) {
        let day: Int64 = 86_400_000
        let midnight = now.milliseconds / day * day
        switch text {
        case "now": self = now
        case "today": self = WallTime(milliseconds: midnight)
        case "yesterday": self = WallTime(milliseconds: midnight - day)
        case _ where text.hasPrefix("-"):
            let digits = text.dropFirst().prefix { ("0"..."9").contains($0) }
            let units: [Substring: Int64] = ["s": 1, "m": 60, "min": 60, "h": 3600, "d": 86_400, "w": 604_800]
            guard let count = Int64(digits), count < 1_000_000, let unit = units[text.dropFirst(1 + digits.count)]
            else { return nil }
            self = WallTime(milliseconds: now.milliseconds - count * unit * 1000)
        default:
            guard let time = WallTime(rfc3339: text) ?? WallTime(rfc3339: text + "T00:00:00Z") else { return nil }
            self = time
        }
    }
}
