// Runs the cases of push-cases.jsonl in the directory PUSH_CASES against an app's dispatcher, with XCTest:
//     pushctl conform cases --platform ios --providers braze >push-cases.jsonl
// It writes push-results.jsonl for "pushctl conform judge". The tests of pushrouterd run it without the SDK.
import Foundation
import XCTest

/// Braze's methods, as your dispatcher calls them; an extension makes `Braze.Notifications` one in the app.
protocol BrazePushes {
    func handleBackgroundNotification(_ userInfo: [AnyHashable: Any], completion: @escaping (String) -> Void) -> Bool
    func handleUserNotification(_ userInfo: [AnyHashable: Any], completion: @escaping () -> Void) -> Bool
    func handleForegroundNotification(_ userInfo: [AnyHashable: Any])
}
/// The facts about one call.
final class Seen {
    var (owners, shown, completions): ([String], [String], [[String: Any]]) = ([], [], [])
    var (returned, calledSuper, skipped): (Bool?, Bool?, String?)
    var clock = 0.0  // Of your tests, in milliseconds, if your dispatcher waits by one.
    func complete(_ result: String) { completions.append(["result": result, "at_ms": clock]) }
}
/// Does as Braze documents: takes a push with an `ab` that has members, and completes what it takes.
struct CountingBraze: BrazePushes {
    let seen: Seen
    private func takes(_ userInfo: [AnyHashable: Any]) -> Bool {
        let isProbe = (userInfo["appboy_uninstall_tracking"] as? NSNumber)?.boolValue == true
        let isBraze = isProbe || (userInfo["ab"] as? [String: Any])?.isEmpty == false
        if isBraze { seen.owners.append("braze") }
        return isBraze
    }
    func handleBackgroundNotification(_ userInfo: [AnyHashable: Any], completion: @escaping (String) -> Void) -> Bool {
        takes(userInfo) ? { completion("noData"); return true }() : false
    }
    func handleUserNotification(_ userInfo: [AnyHashable: Any], completion: @escaping () -> Void) -> Bool {
        takes(userInfo) ? { completion(); return true }() : false
    }
    func handleForegroundNotification(_ userInfo: [AnyHashable: Any]) { _ = takes(userInfo) }
}
final class PushConformTests: XCTestCase {
    // FILL IN: make your dispatcher, call it, and note who gets the push: "own" for your code; Braze is counted above.
    func run(_ callback: String, _ userInfo: [AnyHashable: Any], braze: (any BrazePushes)?, _ seen: Seen) {
        let dispatcher = PushDispatcher(braze: braze)
        dispatcher.own = { seen.owners.append("own") }
        dispatcher.show = { seen.shown.append("own") }
        dispatcher.sleep = { seen.clock += $0 * 1000 }
        switch callback {
        case "didReceiveRemoteNotification": dispatcher.received(userInfo) { seen.complete($0) }
        case "didReceiveResponse": dispatcher.opened(userInfo) { seen.complete("") }
        case "willPresent": dispatcher.willPresent(userInfo) { seen.complete($0.joined(separator: ",")) }
        default: seen.skipped = "no \(callback) in this dispatcher"
        }
        (seen.returned, seen.calledSuper) = (dispatcher.brazeTook, dispatcher.calledSuper)
    }
    // The differences; "pushctl conform judge" has the rules.
    func faults(_ want: [String: Any], _ seen: Seen) -> [String] {
        let shower = (want["shown"] as? [String: Any])?["by"] as? String
        let owners = seen.owners.joined(separator: ", ")
        let facts: [(String, Bool)] = [
            ("owners: \(owners)", (want["owner"] as? String).map { $0 == owners } ?? true),
            ("returned: \(seen.returned == true)", seen.returned == nil || seen.returned == want["returned"] as? Bool),
            ("completions: \(seen.completions.count)", want["completions"] as? Int == seen.completions.count),
            ("shown twice, by \(seen.shown)", seen.shown.count <= (shower == "system" ? 0 : 1)),
            ("took \(seen.clock) ms", seen.clock < want["deadline_ms"] as? Double ?? .infinity),
        ]
        return facts.filter { !$0.1 }.map(\.0)
    }

    func testDispatcher() throws {
        let place = ProcessInfo.processInfo.environment["PUSH_CASES"] ?? "."
        func lines(_ name: String) -> [Substring] {
            ((try? String(contentsOfFile: "\(place)/\(name)", encoding: .utf8)) ?? "").split(separator: "\n")
        }
        let known = lines("push-cases.known").filter { !$0.hasPrefix("#") }.map { $0.components(separatedBy: ": ")[0] }
        var (results, unused): ([Data], Set<String>) = ([], Set(known))
        for line in lines("push-cases.jsonl") {
            let one = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any] ?? [:]
            let name = one["name"] as? String ?? ""
            let about = known.filter {
                let words = NSRegularExpression.escapedPattern(for: $0).replacingOccurrences(of: "\\*", with: ".*")
                return name.range(of: "^\(words)$", options: .regularExpression) != nil
            }
            unused.subtract(about)
            guard case let (callback as String, userInfo as [String: Any], want as [String: Any]) =
                (one["callback"], one["userInfo"], one["want"]) else { continue }
            let seen = Seen()
            run(callback, userInfo, braze: one["sdk"] == nil ? CountingBraze(seen: seen) : nil, seen)
            let facts: [String: Any?] = [
                "name": name, "owners": seen.owners, "returned": seen.returned, "completions": seen.completions,
                "shown": seen.shown, "elapsed_ms": seen.clock, "super_called": seen.calledSuper, "skipped": seen.skipped,
            ]
            results.append(try JSONSerialization.data(withJSONObject: facts.compactMapValues { $0 }))
            let found = seen.skipped == nil ? faults(want, seen) : []
            guard seen.skipped == nil, found.isEmpty == !about.isEmpty else { continue }
            let what = found.isEmpty ? "passes, and push-cases.known has it" : found.joined(separator: "; ")
            XCTFail("\(name): \(what)\n\(one["why"] ?? "")\n\(one["explain"] ?? "")")
        }
        XCTAssertEqual(unused.sorted(), [], "push-cases.known: no case is about these")
        XCTAssertFalse(results.isEmpty, "push-cases.jsonl has no case of iOS")
        try Data(results.joined(separator: Data("\n".utf8))).write(to: URL(fileURLWithPath: "\(place)/push-results.jsonl"))
    }
}
