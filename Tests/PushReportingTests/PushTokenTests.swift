import Testing

@testable import PushModel
@testable import PushViews

@Suite("Push tokens shown to people")
struct PushTokenTests {
    @Test(
        "have a quarter of their characters, at most eight",
        arguments: [
            ("abc", "…"), ("abcd", "a…"), ("bk3RNwTe3H0:CI2k_HHwgIpoDKCIZvvDMExUdFQ3P1", "bk3RNwTe…"), ("", "…"),
        ])
    func shortened(token: String, shown: String) {
        #expect(PushTokens.shortened(token) == shown)
    }

    @Test(
        "are shortened everywhere in a request; the rest is unchanged",
        arguments: [
            (
                #"{ "op":"token", "token" : "abcdefgh", "device":"d" }"#,
                #"{ "op":"token", "token" : "ab…", "device":"d" }"#
            ),
            (
                #"{"payload":{"message":{"token":"abcdefgh","data":{"a":1.50}}}}"#,
                #"{"payload":{"message":{"token":"ab…","data":{"a":1.50}}}}"#
            ),
            (#"{"x":[{"token":"abcd"},{"token":"a\"bcdefg"}]}"#, #"{"x":[{"token":"a…"},{"token":"a\"…"}]}"#),
            (#"{"token":7,"tokens":"abcdefgh"}"#, #"{"token":7,"tokens":"abcdefgh"}"#), ("no JSON", "no JSON"),
        ])
    func inLine(line: String, shown: String) {
        #expect(String(decoding: PushTokens.shortened(in: Array(line.utf8)), as: UTF8.self) == shown)
    }
}
