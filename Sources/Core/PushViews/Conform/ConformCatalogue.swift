import PushModel
public import PushRouter

extension ConformPush {
    /// The pushes of the program: Braze's and those that are nearly Braze's, the accidents of the catalogue, one for each
    /// rule of another provider, and one that is also Braze's for each SDK of the app, in this order.
    ///
    /// - Parameters:
    ///   - detection: the rules of all known providers.
    ///   - app: the rules of the app's SDKs.
    public static func catalogue(_ detection: DetectionSettings, app: DetectionSettings) -> [ConformPush] {
        let rows = PackageResources.cases_jsonl.split(separator: UInt8(ascii: "\n")).map { row(Array($0)) }
        let accidents = Accident.catalogue.flatMap { accident in
            (accident.accident.examples + accident.mended.examples).map { example in
                ConformPush(
                    path: "accidents/\(accident.name)-\(example.id)", platform: example.platform,
                    deliver: example.request)
            }
        }
        let others = detection.providers.filter { $0.name != ProviderRule.brazeName }.sorted { $0.name < $1.name }
        let providers = others.flatMap { provider in
            Platform.allCases.compactMap { platform in
                provider.platforms[platform].map { ProviderSample.push(of: provider, $0, on: platform) }
            }
        }
        // A dispatcher that asks another SDK first takes them from Braze.
        let shared = app.providers.filter { $0.name != ProviderRule.brazeName }.sorted { $0.name < $1.name }
            .flatMap { provider in
                Platform.allCases.compactMap { platform in
                    provider.platforms[platform].map {
                        ProviderSample.push(of: provider, $0, on: platform, withBraze: true)
                    }
                }
            }
        // A rule may need more than its conditions say, as the number of keys.
        return rows + accidents
            + providers.filter { push in
                let decision = try? decide(Delivery(push.deliver, platform: push.platform), settings: detection)
                return decision?.matches.contains { push.path.hasSuffix("/\($0)") } == true
            }
            + shared.filter { push in
                let decision = try? decide(Delivery(push.deliver, platform: push.platform), settings: app)
                return decision?.matches.first == ProviderRule.brazeName && decision?.matches.count ?? 0 > 1
            }
    }

    /// Reads a row of `cases.jsonl`: `name` with the platform before it, `payload`, and `again` or `click`.
    private static func row(_ line: [UInt8]) -> ConformPush {
        let root = ConformCall.document(line).root
        let name = root["name"]?.string ?? ""
        let slash = name.firstIndex(of: "/") ?? name.startIndex
        guard let platform = Platform(rawValue: String(name[..<slash])), let payload = root["payload"] else {
            // A test reads all rows.
            preconditionFailure("a row of cases.jsonl: \(String(decoding: line, as: UTF8.self))")
        }
        var push = ConformPush(
            path: String(name[name.index(after: slash)...]), platform: platform,
            deliver: DeliverRequest(
                target: Target(platform: platform), transport: root["transport"]?.string.flatMap(Transport.init),
                payload: payload))
        push.isClick = root["click"]?.bool == true
        push.comesAgain = root["again"]?.bool == true
        return push
    }
}
