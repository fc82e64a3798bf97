import Testing

@testable import PushModel
@testable import PushRouter

// Source: the documentation of braze-swift-sdk; Apple's documentation of the three completion handlers.
@Suite("The completion of a callback")
struct CompletionTests {
    private static let owned: [Callback] = Callback.allCases.filter { $0 != .none && $0 != .willPresent }
    private let modern = ["banner", "list", "sound"]

    private func completions(
        _ callback: Callback, _ version: String? = nil, _ rules: CompletionRules = CompletionRules()
    ) -> Completions {
        Completions(callback, rules: rules, osVersion: version.flatMap(OSVersion.init))
    }

    @Test("Braze completes its own callbacks, with the fetch result of its settings", arguments: owned)
    func tracker(_ callback: Callback) {
        let rules = CompletionRules(brazeFetchResult: .newData)
        let isFetch = callback == .didReceiveRemoteNotification
        #expect(completions(callback).byTracker() == Completion(by: .tracker, result: .noData))
        #expect(
            completions(callback, nil, rules).byTracker()
                == Completion(by: .tracker, result: isFetch ? .newData : .noData))
    }

    @Test("Braze never completes willPresent: the app does")
    func trackerInForeground() {
        #expect(completions(.willPresent).byTracker() == Completion(by: .default, result: .noData, options: modern))
    }

    @Test(
        "the app presents by the version of iOS, or by the setting",
        arguments: [
            (nil, ["banner", "list", "sound"]), ("14", ["banner", "list", "sound"]),
            ("14.0.1", ["banner", "list", "sound"]), ("26.1", ["banner", "list", "sound"]),
            ("13.7", ["alert", "sound"]), ("9", ["alert", "sound"]),
        ])
    func presentation(_ version: String?, _ options: [String]) {
        let silent = CompletionRules(presentationOptions: [])
        let own = CompletionRules(presentationOptions: [.badge])
        for complete in [
            { (completions: Completions) in completions.byTracker() },
            { $0.byHandler(HandlerAnswer.Content()) },
            { $0.byHandler(HandlerAnswer.Content(result: .newData)) },
            { $0.byHost(.timedOut) }, { $0.byHost(.unrouted) },
        ] {
            #expect(complete(completions(.willPresent, version))?.options == options)
            #expect(complete(completions(.willPresent, version, silent))?.options == [])
            #expect(complete(completions(.willPresent, version, own))?.options == ["badge"])
        }
    }

    @Test("a handler with an answer completes; one that only exits leaves it to the app")
    func handler() {
        let completions = completions(.didReceiveRemoteNotification)
        #expect(
            completions.byHandler(HandlerAnswer.Content(result: .newData))
                == Completion(by: .handler, result: .newData))
        #expect(completions.byHandler(HandlerAnswer.Content()) == Completion(by: .default, result: .noData))
        // Other callbacks have no options.
        #expect(
            completions.byHandler(HandlerAnswer.Content(options: ["banner"]))
                == Completion(by: .handler, result: .noData))
    }

    @Test("a handler's options are those of iOS, each once, and an empty list is an answer")
    func options() {
        let answer = { (options: [String]) in
            completions(.willPresent).byHandler(HandlerAnswer.Content(options: options))?.options
        }
        #expect(answer(["sound", "zoom", "badge", "sound", "Banner"]) == ["sound", "badge"])
        let all = ["badge", "sound", "alert", "list", "banner"]
        #expect(answer(all) == all)
        #expect(answer([]) == [])
    }

    @Test(
        "without an answer the completion is noData, and failed only at the deadline of a fetch",
        arguments: Outcome.allCases)
    func host(_ outcome: Outcome) {
        let isMissed = outcome == .timedOut || outcome == .expired
        #expect(
            completions(.didReceiveRemoteNotification).byHost(outcome)
                == Completion(by: .default, result: isMissed ? .failed : .noData))
        #expect(completions(.didReceiveResponse).byHost(outcome) == Completion(by: .default, result: .noData))
    }

    @Test("without a callback nothing is completed, but a second answer is reported")
    func none() {
        let none = completions(.none)
        #expect(none.byTracker() == nil && none.byHost(.timedOut) == nil)
        let twice = HandlerAnswer.Content(result: .newData, times: 2)
        #expect(none.byHandler(twice) == nil)
        #expect(none.remark(on: twice, of: "crm") == "crm answered 2 times; only the first answer counts")
        #expect(none.remark(onSilenceOf: "crm", outcome: .timedOut) == nil)
    }

    @Test("a second answer is ignored, counted and reported")
    func twice() {
        let reply = HandlerAnswer.Content(result: .newData, times: 2)
        let fetch = completions(.didReceiveRemoteNotification)
        #expect(fetch.byHandler(reply) == Completion(by: .handler, times: 2, result: .newData))
        #expect(
            fetch.remark(on: reply, of: "crm")
                == "crm answered 2 times; only the first answer counts; "
                + "in an app the second call of the completion handler crashes")
        #expect(
            completions(.onMessageReceived).remark(on: reply, of: "crm")
                == "crm answered 2 times; only the first answer counts")
        #expect(fetch.remark(on: HandlerAnswer.Content(result: .newData), of: "crm") == nil)
    }

    @Test("an option that iOS does not have is reported")
    func unknownOption() {
        let reply = HandlerAnswer.Content(options: ["zoom", "sound", "Banner"])
        #expect(
            completions(.willPresent).remark(on: reply, of: "crm")
                == "options: zoom, Banner ignored; iOS knows badge, sound, alert, list, banner")
        #expect(completions(.didReceiveRemoteNotification).remark(on: reply, of: "crm") == nil)
        #expect(completions(.willPresent).remark(on: HandlerAnswer.Content(options: ["sound"]), of: "crm") == nil)
    }

    @Test("a handler without an answer is reported, with the reaction of iOS")
    func silence() {
        #expect(
            completions(.didReceiveRemoteNotification).remark(onSilenceOf: "crm", outcome: .timedOut)
                == "crm never answered: the app completes the callback with failed")
        #expect(
            completions(.willPresent).remark(onSilenceOf: nil, outcome: .expired)
                == "no handler answered: the app completes the callback")
        #expect(
            completions(.serviceExtension).remark(onSilenceOf: "crm", outcome: .timedOut)
                == "the service extension was not done in time: iOS shows the notification with its original content")
        #expect(completions(.onMessageReceived).remark(onSilenceOf: "crm", outcome: .timedOut) == nil)
        #expect(completions(.willPresent).remark(onSilenceOf: "crm", outcome: .failed) == nil)
    }
}
