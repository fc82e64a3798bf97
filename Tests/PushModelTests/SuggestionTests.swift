import Testing

@testable import PushModel

@Suite("Did you mean")
struct SuggestionTests {
    @Test(
        "two swapped letters are one mistake, even in a short word",
        arguments: [("juint", "junit"), ("jsno", "json"), ("aht", "hat"), ("xyz", nil), ("jutin", nil)])
    func exchanged(word: String, expected: String?) {
        #expect(nearest(to: word, among: ["json", "junit", "hat"]) == expected)
    }

    @Test(
        "a prefix of a name suggests it, unless another name is nearer",
        arguments: [
            ("two", "two-owners"), ("tree", "three"), ("Own", "own-receiver"), ("ow", "own-receiver"), ("tw", nil),
            ("", nil), ("owners", nil),
        ])
    func beginning(word: String, expected: String?) {
        #expect(nearest(to: word, among: ["two-owners", "own-receiver", "three", "two-taps"]) == expected)
    }
}
