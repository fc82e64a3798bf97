import Glibc
import PushModel
import PushRouter
import PushSettings

// Measures the cost of detection per delivery: deciding with the shipped providers, and with none. Built and run by
// detection.sh.

@main
enum DetectionBenchmark {
    static func main() {
        guard let shipped = Settings.load(ConfigurationSources()).settings?.routing.detection else { exit(1) }
        let none = DetectionSettings(providers: [])
        print("\(shipped.providers.count) providers, best of \(rounds) rounds of \(payloadsPerRound)")
        for path in CommandLine.arguments.dropFirst() {
            guard let payload = try? JSONDocument(scanning: contents(of: path)).root,
                let decision = try? decide(Delivery(platform: .android, payload: payload), settings: shipped)
            else {
                print("\(path): no payload")
                exit(1)
            }
            let delivery = Delivery(platform: .android, payload: payload)
            let without = nanoseconds { _ = try? decide(delivery, settings: none) }
            let with = nanoseconds { _ = try? decide(delivery, settings: shipped) }
            let name = path.split(separator: "/").last ?? ""
            let owner = decision.provider ?? "nobody"
            print("\(name) (\(owner)): \(with - without) ns of \(with) ns")
        }
    }

    private static let rounds = 15
    private static let payloadsPerRound = 20_000

    private static func nanoseconds(_ work: () -> Void) -> Int64 {
        let best =
            (0..<rounds).map { _ in
                ContinuousClock().measure { for _ in 0..<payloadsPerRound { work() } }
            }.min() ?? .zero
        return best.nanoseconds / Int64(payloadsPerRound)
    }

    private static func contents(of path: String) -> [UInt8] {
        guard let file = fopen(path, "r") else { return [] }
        defer { fclose(file) }
        var bytes = [UInt8](repeating: 0, count: 1 << 20)
        let length = fread(&bytes, 1, bytes.count, file)
        return Array(bytes.prefix(length))
    }
}
