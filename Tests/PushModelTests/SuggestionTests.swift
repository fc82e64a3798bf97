import PushModel
import Testing

@Suite("Did you mean")
struct SuggestionTests {
    @Test(
        "two letters that changed places are one mistake, in a short word, too",
        arguments: [("juint", "junit"), ("jsno", "json"), ("aht", "hat"), ("xyz", nil), ("jutin", nil)])
    func exchanged(word: String, expected: String?) {
        #expect(nearest(to: word, among: ["json", "junit", "hat"]) == expected)
    }

    @Test(
        "the beginning of a name means it, where no name is nearer",
        arguments: [("two", "two-owners"), ("tree", "three"), ("Own", "own-receiver"), ("ow", nil), ("owners", nil)])
    func beginning(word: String, expected: String?) {
        #expect(nearest(to: word, among: ["two-owners", "own-receiver", "three", "two-taps"]) == expected)
    }
}
