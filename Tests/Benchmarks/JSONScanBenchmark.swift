import CJSON
import Glibc

// Measures one document: our scan, our scan with a few members read, and json-c's strict parse of the same bytes. Built
// and run by json-scan.sh.

@main
enum JSONScanBenchmark {
    static func main() {
        guard CommandLine.arguments.count == 2, let bytes = contents(of: CommandLine.arguments[1]) else {
            print("usage: json-scan-benchmark FILE")
            exit(2)
        }
        print("\(bytes.count) bytes a document, best of \(rounds) rounds of \(documentsPerRound)")
        report("scan", bytes) { scan(bytes) != nil }
        report("scan, read 4 members", bytes) {
            guard let root = scan(bytes)?.root, let data = root["message"]?["data"] else { return false }
            return data["_ab"]?.equals("true") == true && data["cid"]?.string != nil && data["extra"]?.string != nil
                && root["state"]?.equals("background") == true
        }
        guard let tokener = json_tokener_new_ex(32) else { exit(1) }
        defer { json_tokener_free(tokener) }
        json_tokener_set_flags(tokener, JSON_TOKENER_STRICT | JSON_TOKENER_VALIDATE_UTF8)
        report("json-c, strict", bytes) {
            json_tokener_reset(tokener)
            let tree = bytes.withUnsafeBytes { text in
                json_tokener_parse_ex(tokener, text.baseAddress?.assumingMemoryBound(to: CChar.self), Int32(text.count))
            }
            return json_object_put(tree) == 1
        }
    }

    private static let rounds = 15
    private static let documentsPerRound = 20_000

    private static func scan(_ bytes: [UInt8]) -> JSONDocument? { try? JSONDocument(scanning: bytes) }

    private static func report(_ name: String, _ bytes: [UInt8], _ work: () -> Bool) {
        let best =
            (0..<rounds).map { _ in
                ContinuousClock().measure {
                    for _ in 0..<documentsPerRound where !work() {
                        print("\(name) refused the document")
                        exit(1)
                    }
                }
            }.min() ?? .zero
        let nanoseconds = best.nanoseconds / Int64(documentsPerRound)
        let padding = String(repeating: " ", count: 24 - name.count)
        print("\(name)\(padding)\(nanoseconds) ns, \(bytes.count * 1000 / Int(nanoseconds)) MB/s")
    }

    private static func contents(of path: String) -> [UInt8]? {
        guard let file = fopen(path, "r") else { return nil }
        defer { fclose(file) }
        var bytes = [UInt8](repeating: 0, count: 1 << 20)
        let length = fread(&bytes, 1, bytes.count, file)
        return Array(bytes.prefix(length))
    }
}
