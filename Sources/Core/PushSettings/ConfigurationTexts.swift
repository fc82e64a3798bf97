public import PushModel

/// The texts generated from the declared keys. `packaging/generate.sh` writes them into the tree.
public enum ConfigurationTexts {
    /// The shipped `pushrouterd.conf`.
    public static var mainFile: String {
        let text = """
            # The configuration of pushrouterd. The entries show the defaults; to change one, take the # away here or, better,
            # write it into a file of your own, pushrouterd.conf.d/50-local.conf, section header included.
            #
            # Times are written as in 250ms, 9s, 1min 30s or 30d, sizes as in 256K or 16M. A comment has a line of its own.
            # "pushctl verify" checks the files; SIGHUP puts them in force. pushrouterd.conf(5) says more of each entry.

            """
        return text + entries(of: Schema.main.keys)
    }

    /// Returns keys as lines of a file that changes none of them: each commented out, with its meaning and its default.
    public static func entries<Target>(of keys: [Key<Target>]) -> String {
        var text = ""
        var section = ""
        for key in keys {
            if key.section != section { text += "\n[\(key.section)]\n" }
            section = key.section
            if !key.meaning.isEmpty { text += ManualText(key.meaning).comment + "\n" }
            text += "#\(key.name)=\(key.standard)\n"
        }
        return text
    }

    /// The lists of keys in pushrouterd.conf(5), in mdoc(7), each with the name of its place there.
    public static var keyLists: [(name: String, text: String)] {
        let handler = Schema.handler.keys
        let ofNotify = { (key: Key<HandlerDraft>) in key.kinds == [.notify] }
        var parts = [
            part("[Handler]", handler.filter { !ofNotify($0) }, kinds: HandlerDraft.Kind.allCases),
            part("[Handler] notify", handler.filter(ofNotify)),
        ]
        var rest = Schema.main.keys[...]
        while let section = rest.first?.section {
            parts.append(part("[\(section)]", Array(rest.prefix { $0.section == section })))
            rest = rest.drop { $0.section == section }
        }
        return parts
    }

    /// Returns a list of keys in mdoc(7), with the name of its place in a page.
    ///
    /// - Parameter kinds: all kinds; set for keys that name the kinds they apply to.
    public static func part<Target>(_ name: String, _ keys: [Key<Target>], kinds: [Target.Kind] = []) -> (
        name: String, text: String
    ) {
        var lines: [String] = []
        var rest = keys[...]
        while let first = rest.popFirst() {
            let group = [first] + rest.prefix { $0.meaning.isEmpty }
            rest = rest.dropFirst(group.count - 1)
            lines.append(".It Cm " + group.map { "\($0.name)=" }.joined(separator: " , "))
            lines.append(ManualText(words(on: group, kinds: kinds)).manual)
        }
        return (name, lines.joined(separator: "\n") + "\n")
    }

    /// Returns the description of keys that share one.
    private static func words<Target>(on group: [Key<Target>], kinds: [Target.Kind]) -> String {
        guard let first = group.first else { return "" }
        var sentences = [first.meaning]
        if group.contains(where: \.waitsForRestart) {
            sentences.append("A changed value counts from the next start on.")
        }
        let hasDefault = ["Default", "Required"].contains { first.meaning.has($0) }
        let standards = group.map(\.standard).filter { !$0.isEmpty }
        if !standards.isEmpty, !hasDefault {
            let words = standards.map { $0.utf8.first?.isDigit == true ? $0 : "`\($0)`" }
            sentences.append("Default\(words.count > 1 ? "s" : ""): \(words.joined(separator: ", ")).")
        } else if !hasDefault {
            sentences.append("Default: none.")
        }
        if !first.kinds.isEmpty, !kinds.isEmpty {
            let others = kinds.filter { !first.kinds.contains($0) }
            let isFew = others.count < first.kinds.count
            let words = alternatives((isFew ? others : first.kinds).map { "`\($0)`" })
            sentences.append(isFew ? "Not for \(words)." : "Only for \(words).")
        }
        return sentences.joined(separator: " ")
    }
}
