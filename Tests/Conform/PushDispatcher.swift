import Glibc

/// The dispatcher of an iOS app, with the fault that PUSH_PLANT names.
final class PushDispatcher {
    private let plant = getenv("PUSH_PLANT").map { String(cString: $0) } ?? ""
    private let braze: (any BrazePushes)?
    var own = {}
    var show = {}
    var sleep: (Double) -> Void = { _ in }
    private(set) var brazeTook: Bool?
    private(set) var calledSuper: Bool?

    init(braze: (any BrazePushes)?) { self.braze = braze }

    private func isBraze(_ userInfo: [AnyHashable: Any]) -> Bool {
        (userInfo["ab"] as? [String: Any])?.isEmpty == false
    }

    func received(_ userInfo: [AnyHashable: Any], done: @escaping (String) -> Void) {
        calledSuper = plant != "super_not_called"
        if plant == "over_policy" { sleep(10) }
        if plant == "not_handled", userInfo["ab"] != nil, let braze {
            if !braze.handleBackgroundNotification(userInfo, completion: done) { done("noData") }
            return
        }
        brazeTook = braze?.handleBackgroundNotification(userInfo, completion: done)
        if brazeTook == true {
            if plant == "handled_twice" { own() }
            return
        }
        own()
        if plant == "shown_twice" { show() }
        if plant == "return_value", braze != nil { brazeTook = true }
        if plant != "completed_never" { done(plant == "result_word" ? "ok" : "newData") }
        if plant == "completed" { done("newData") }
    }

    func opened(_ userInfo: [AnyHashable: Any], done: @escaping () -> Void) {
        brazeTook = braze?.handleUserNotification(userInfo, completion: done)
        if brazeTook == true { return }
        own()
        done()
    }

    func willPresent(_ userInfo: [AnyHashable: Any], done: @escaping ([String]) -> Void) {
        if let braze, isBraze(userInfo) { braze.handleForegroundNotification(userInfo) } else { own() }
        done(["banner", "list", "sound"])
    }
}
