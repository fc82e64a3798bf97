public import PushModel

/// A configuration file that was read: its name for people, and its bytes.
public struct ConfigurationFile: Hashable, Sendable {
    /// The path as messages show it; the stem of its last component names what it describes.
    public var path: String
    /// The contents, unchecked.
    public var bytes: [UInt8]

    /// Joins the parts.
    public init(path: String, bytes: [UInt8]) {
        self.path = path
        self.bytes = bytes
    }

    /// The last component of the path without its extension.
    public var stem: String {
        let component = path.utf8.split(separator: UInt8(ascii: "/")).last ?? ""[...].utf8
        guard let dot = component.lastIndex(of: UInt8(ascii: ".")), dot != component.startIndex else {
            return String(Substring(component))
        }
        return String(Substring(component[..<dot]))
    }

    /// Whether the file only hides a file of the same name in a lower directory, like an empty unit file or a link to
    /// `/dev/null` in systemd.
    var isMask: Bool { bytes.isEmpty }
}

/// The files of one configuration. Of several files with the same name it has only the one that takes precedence.
public struct ConfigurationSources: Hashable, Sendable {
    /// `pushrouterd.conf`, then its drop-ins in order: the last value of a key counts.
    public var main: [ConfigurationFile]
    /// `providers.d/*.provider`, in any order; each replaces or masks the shipped file of its name.
    public var providers: [ConfigurationFile]
    /// `handlers.d/*.handler`, in any order.
    public var handlers: [ConfigurationFile]
    /// `routes.d/*.route`, in any order.
    public var routes: [ConfigurationFile]
    /// `tracks.d/*.track`, in any order.
    public var tracks: [ConfigurationFile]
    /// `registrations.d/*.registration`, in any order.
    public var registrations: [ConfigurationFile]
    /// `producers.d/*.producer`, in any order.
    public var producers: [ConfigurationFile]
    /// The warnings about other files and folders, which are not read.
    public var strays: [Diagnostic] = []

    /// Joins the parts; an omitted part has its defaults.
    public init(
        main: [ConfigurationFile] = [], providers: [ConfigurationFile] = [], handlers: [ConfigurationFile] = [],
        routes: [ConfigurationFile] = [], tracks: [ConfigurationFile] = [],
        registrations: [ConfigurationFile] = [], producers: [ConfigurationFile] = []
    ) {
        self.main = main
        self.providers = providers
        self.handlers = handlers
        self.routes = routes
        self.tracks = tracks
        self.registrations = registrations
        self.producers = producers
    }
}

extension [ConfigurationFile] {
    /// The files that are not masks, in order of name, which is the order of application.
    var inOrder: [ConfigurationFile] {
        filter { !$0.isMask }.map { (stem: $0.stem, file: $0) }.sorted { $0.stem < $1.stem }.map(\.file)
    }
}

/// A folder of the configuration. The daemon reads its files with one extension.
public enum ConfigurationFolder: String, Hashable, Sendable, CaseIterable {
    /// Rules that assign payloads to a provider.
    case provider
    /// Programs and services that handle payloads.
    case handler
    /// Rules that assign payloads to a handler.
    case route
    /// Rules for entries to send to `/users/track`.
    case track
    /// The devices of tokens that no app registers.
    case registration
    /// Rules for what producers may send.
    case producer

    /// The name of the folder.
    public var name: String { "\(rawValue)s.d" }

    /// The ending of its file names.
    public var suffix: String { ".\(rawValue)" }

    /// The folders of drop-ins, and the ending of their file names.
    public static let dropIns = (folders: ["pushrouterd.conf.d", "gateway.conf.d", "web.conf.d"], suffix: ".conf")

    /// Returns the warning about a file that is not read, in a folder whose file names have an ending.
    ///
    /// - Returns: `nil` when it is read, and when its name shows that it is not meant to be.
    public static func remark(onFile name: String, in folder: String, suffix: String) -> String? {
        guard !name.hasSuffix(suffix), !isIgnoredName(name) else { return nil }
        let stem = name.lastIndex(of: ".").map { name[..<$0] } ?? name[...]
        return
            "is not read: the name of a file in \(folder) ends in \(suffix); rename it to \(stem)\(suffix), or to "
            + "\(name).disabled to disable it"
    }

    /// Returns the warning about an unknown folder with a similar name; `nil` without one.
    public static func remark(onFolder name: String) -> String? {
        let names = allCases.map(\.name) + dropIns.folders
        guard !names.contains(name), let near = nearest(to: name, among: names) else { return nil }
        return "is not read; did you mean \(near)?"
    }

    /// Returns whether editors, package managers or people give such a name to files that are not to be read.
    private static func isIgnoredName(_ name: String) -> Bool {
        ["~", ".bak", ".orig", ".swp", ".disabled", ".example"].contains(where: name.hasSuffix)
            || [".", "#", "README"].contains(where: name.hasPrefix)
            || [".dpkg-", ".rpm", ".ucf-"].contains { mark in
                name.lastIndex(of: ".").map { name[$0...].hasPrefix(mark) } ?? false
            }
    }
}

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
