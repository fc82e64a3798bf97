public import PushModel
import PushRouter

/// Reads payloads from a text: one object, on one line or many; an object on each line; an array of objects; or another
/// form that people have (``PayloadForm``), which it reports.
public struct PayloadReader<Source: PayloadSource> {
    /// The failure of the source, also for a fault in the text.
    public typealias Failure = Source.Failure

    let file: Source
    var source: PayloadLines<Source>
    let limits: JSONLimits
    let note: (String) -> Void
    /// Whether a payload may be inside of another object (``PayloadEnvelope``).
    private let opensObjects: Bool
    /// Whether a fault that has one repair is repaired, and told.
    let repairs: Bool
    let platform: Platform?
    private var count = 0
    /// Whether the last text was a line by itself, valid or not, and so not the begin of an object on many lines.
    private var wasWholeLine = true
    /// Whether the payloads are in other text: what begins like none is left out, and no error.
    private var isInText = false
    private var names: Set<String> = []
    /// The rest of an array, and the place of the array's begin.
    private var list: (elements: EnumeratedSequence<[JSONNode]>.Iterator, place: String)?
    /// Whether the whole file was read and has no payload.
    public private(set) var hasNoPayload = false
    private var reportedForms: Set<PayloadForm> = [.json]
    /// The last line in which a prefix was looked for.
    private var lastPrefixed = 0
    /// The facts that the lines without a payload say.
    var around = TextAround()
    /// The failures of objects without a payload beside them, and the first of an object that is known as something else.
    var (failures, named) = ([Failure](), Failure?.none)
    /// The platform that the notation of the last object says.
    private var platformOfNotation: Platform?
    /// Whether the line in which the payload begins is quoted, and so its other lines.
    private var isQuoted = false
    /// Whether the platform or the service of the text around was told.
    private var hasNoted = false
    /// The number of objects in a text that took the rest of it, which is a bound for the time.
    private var restsRead = 0
    /// The limits of the lines of an object in source code, and of objects that take the rest of a text.
    private static var codeMax: Int { 1000 }
    private static var restsMax: Int { 16 }
    /// The number of lines in text that are tried as the begin of members.
    private static var membersTried: Int { 4 }

    /// - Parameters:
    ///   - file: the file.
    ///   - limits: the deepest nesting; by default any, because the daemon checks it.
    ///   - note: called once for each form that is recognized.
    public init(
        _ file: Source, limits: JSONLimits = JSONLimits(depth: .max), note: @escaping (String) -> Void = { _ in }
    ) {
        self.file = file
        source = PayloadLines(file, keepsBeginning: false)
        self.limits = limits
        self.note = note
        (opensObjects, repairs, platform) = (false, false, nil)
    }

    /// Reads what people paste: a payload may be inside of the event of a plugin or the send body of a service.
    ///
    /// - Parameters:
    ///   - platform: the platform in the options.
    ///   - repairs: whether a fault that has one repair is repaired, as only an answer to a person may.
    ///   - note: called once for each form that is recognized.
    public init(
        pasted file: Source, for platform: Platform?, limits: JSONLimits = JSONLimits(depth: .max),
        repairs: Bool = false, note: @escaping (String) -> Void
    ) {
        (self.file, self.platform, self.repairs, self.note) = (file, platform, repairs, note)
        source = PayloadLines(file, keepsBeginning: true)
        self.limits = limits
        opensObjects = true
    }

    /// The next object; `nil` at the end.
    ///
    /// - Throws: the error in the object, with file, line and column.
    public mutating func next() throws(Failure) -> PayloadRecord? {
        if let record = try nextOfList() { return record }
        while let (line, start) = try nextPayloadLine() {
            if let record = try record(line, start) { return record }
        }
        return nil
    }

    /// The record of the payload that begins in a line; `nil` if it is none, and so left out.
    private mutating func record(_ line: [UInt8], _ start: PayloadStart) throws(Failure) -> PayloadRecord? {
        let number = source.number
        count += 1
        wasWholeLine = true
        let text: PayloadText?
        do { text = try PayloadText(start, line: line, constants: around.constants.values) } catch {
            throw failure(error, from: number)
        }
        if let text {
            // A log may mention an object anywhere; a Bundle is one of a push.
            guard start.isBehindText, start.form != .bundle, opensObjects else {
                return try record(of: text, from: number)
            }
            do {
                let isTentative = start.isTentative
                if let record = try record(of: text, from: number, isTentative: isTentative) { return record }
            } catch {
                if !start.isTentative { failures.append(error) }
            }
            count -= 1
            around.leaveOut(line, number, readsCode: repairs)
            return nil
        }
        platformOfNotation = nil
        let document: JSONDocument
        do { document = try self.document(of: line, from: number) } catch {
            guard let encoded = try encodedBehind() else {
                guard let other = around.first, PayloadForm.isCode(other.line) else {
                    throw file.fault(error.message + meaning())
                }
                throw file.fault("\(file.name):\(other.number): \(PayloadForm.codeName)")
            }
            failures.append(error)
            count -= 1
            return try record(encoded.line, encoded.start)
        }
        // It is whole: what is wrong with it is no reason to leave out what follows.
        wasWholeLine = true
        if count > 1, isInText, document.root.kind == .object, let name = PayloadEnvelope.nameOfOther(document.root) {
            // An answer behind the command that got it.
            self.note("\(file.name):\(number): \(name)")
            return nil
        }
        let place = try place(from: number)
        guard document.root.kind == .array else {
            return try opened(
                PayloadRecord(
                    document: try checked(document, place: "\(file.name):\(number):1"), place: place,
                    line: place == file.name ? nil : number, firstLine: number, platform: platformOfNotation))
        }
        guard document.root.count > 0 else { throw file.fault("\(place): an array without a payload") }
        reportForm(.list)
        list = (document.root.elements.enumerated().makeIterator(), place)
        return try nextOfList()
    }

    /// Goes on at JSON in a text with escapes behind source code that cannot be read; `nil` if there is none.
    private mutating func encodedBehind() throws(Failure) -> (line: [UInt8], start: PayloadStart)? {
        guard repairs, around.first != nil, restsRead < Self.restsMax else { return nil }
        while let line = try source.next() {
            if let start = PayloadStart(in: line), start.form == .encoded { return (line, start) }
        }
        return nil
    }

    /// The record of the payload that is inside of a record's object; the record itself if the object is a payload.
    private mutating func opened(_ record: PayloadRecord) throws(Failure) -> PayloadRecord {
        var record = record
        guard opensObjects, record.document.root["op"] == nil else { return record }
        if around.namesVoIP, count == 1, record.headers == nil, record.document.root.isApplePayload {
            (record.platform, record.headers) = (.ios, PayloadEnvelope.voip)
            note("\(record.place): read as a VoIP push, for the text before it says so")
        }
        if count == 1, record.headers == nil, record.document.root.isApplePayload, let headers = around.headersOfAPNs {
            (record.platform, record.headers) = (.ios, headers)
            note("\(record.place): read with the headers of APNs before it")
        }
        let opened: WrittenPayload?
        do {
            opened = try PayloadEnvelope.open(
                record.document.root, for: platform ?? record.platform, addsTarget: repairs)
        } catch {
            let failure = file.fault("\(record.place): \(error.message)")
            named = named ?? failure
            throw failure
        }
        if opened == nil, !record.document.root.isApplePayload { noteNamed(record, nil, nil) }
        guard let opened else { return record }
        record.name = opened.name ?? record.name
        if let name = opened.name, names.insert(name).inserted {
            note("\(record.place): read as \(name)")
            if !opened.json.has("\"apns\"".utf8) { noteNamed(record, opened.platform, opened.transport) }
        }
        return PayloadRecord(
            document: try document(opened.json, limits, place: record.place), place: record.place,
            line: record.line, isBehindText: record.isBehindText, firstLine: record.firstLine,
            platform: opened.platform ?? record.platform,
            app: opened.app ?? record.app, transport: opened.transport ?? record.transport,
            headers: opened.headers ?? record.headers, name: record.name)
    }

    /// Tells once which platform or service the text around a payload speaks of, if its form does not say it.
    private mutating func noteNamed(_ record: PayloadRecord, _ platform: Platform?, _ transport: Transport?) {
        guard repairs, !hasNoted, self.platform == nil, transport ?? record.transport == nil else { return }
        let known = platform ?? record.platform
        let named = known == nil ? Platform.named(in: source.beginning) : nil
        let service = known?.hasAPNsHeaders != true ? Transport.named(in: source.beginning) : nil
        hasNoted = named != nil || service != nil
        guard hasNoted else { return }
        note("\(record.place): the text speaks of \(service?.pointer ?? named?.pointer ?? "") explains it")
    }

    private func document(
        _ json: [UInt8], _ limits: JSONLimits, place: String
    ) throws(Failure) -> JSONDocument {
        do { return try JSONDocument(scanning: json, limits: limits) } catch {
            throw file.fault("\(place): not JSON: \(error.message)")
        }
    }

    /// The next valid payload. Reports the error in a line or an element and continues with the next one, except in a
    /// first line that may be the begin of one broken object on many lines.
    ///
    /// - Parameter note: called with each error.
    public mutating func nextOrNote(_ note: (Failure) -> Void) throws(Failure) -> PayloadRecord? {
        while true {
            let before = count
            do {
                return try next()
            } catch {
                guard wasWholeLine, count > before else { throw error }
                note(error)
            }
        }
    }

    /// The next line with a payload, and the begin of the payload in it. Leaves out the other lines of a text.
    private mutating func nextPayloadLine() throws(Failure) -> (line: [UInt8], start: PayloadStart)? {
        while let raw = try source.next() {
            var line = opensObjects ? PayloadStart.unwrapped(raw) : raw
            isQuoted = opensObjects && PayloadStart.isQuoted(raw)
            if source.number == 1, [[0xFF, 0xFE], [0xFE, 0xFF]].contains(where: { line.starts(with: $0) }) {
                throw file.fault(
                    "\(file.name): text in UTF-16: make it UTF-8, as with iconv -f UTF-16 -t UTF-8 \(file.shellName)")
            }
            guard line.contains(where: { !$0.isJSONWhiteSpace }), !PayloadStart.isFence(line) else { continue }
            if around.isInFrame {
                around.leaveOut(line, source.number, readsCode: repairs)
                continue
            }
            if repairs, !isQuoted { line = try withoutPrefix(line) }
            if repairs, count == 0, let members = try members(from: line) { line = members }
            // Each line of a file with JSON in its first line is JSON.
            let found = PayloadStart(in: line)
            let start = opensObjects || found?.isTentative != true ? found : nil
            if count == 0, start?.form != .json || start?.isBehindText == true {
                // Only what people paste has other text in it; a line of a scenario is never left out.
                isInText = opensObjects || start != nil || PayloadStart.isLog(line)
            } else if repairs, count > 0,
                isQuoted || start != nil && PayloadStart.isWord(line) || PayloadStart.isWords(line)
            {
                isInText = true
            }
            let isFirst = count == 0 && around.first == nil && opensObjects && start?.isBehindText != false
            if isFirst, let name = PayloadForm.nameOfOther(line, mayHavePayload: true, readsCode: repairs) {
                let number = source.number
                // Later lines may say what it means.
                _ = try rest()
                throw file.fault("\(file.name):\(number): \(name)\(meaning())")
            }
            if let start, !start.isTentative || restsRead < Self.restsMax {
                return (line, around.isInCall && repairs ? start.inCall : start)
            }
            guard isInText else { return (line, PayloadStart.json) }
            around.leaveOut(line, source.number, readsCode: repairs)
        }
        guard count > 0 else {
            hasNoPayload = true
            throw nothing()
        }
        for known in isInText ? knownSentences : [] { note("\(file.name):\(known.line): \(known.text)") }
        // An object that cannot be read in source code is source code.
        if PayloadForm.firstOfCode(in: source.beginning) != nil {
            (around.skipped, failures) = (around.skipped + failures.count, [])
        }
        for failure in failures { note(failure.message) }
        failures = []
        if around.skipped > 0 { note("\(file.name): \(counted(around.skipped, "line")) without a payload left out") }
        return nil
    }

    /// Takes the prefix of a log off the lines of the object that a line opens, and returns the line without it.
    private mutating func withoutPrefix(_ line: [UInt8]) throws(Failure) -> [UInt8] {
        // C# has the brace of an object in a line of its own, and many have the bracket of an array of PHP there.
        if PayloadStart.opensStruct(line) || PayloadStart.makesObject(line[...]), let next = try source.next() {
            let text = next.drop(while: \.isJSONWhiteSpace)
            if PayloadStart.opensStruct(line) || text.first == UInt8(ascii: "{") {
                return Array(line[...(line.lastIndex { !$0.isJSONWhiteSpace } ?? 0)]) + text
            }
            source.push(back: [next])
        }
        guard source.number > lastPrefixed, LinePrefix.isOpen(line), let next = try source.next() else { return line }
        var (lines, isAll) = ([line, next], false)
        defer {
            lastPrefixed = source.number - 1
            source.push(back: Array(lines.dropFirst()))
        }
        guard let prefix = LinePrefix(of: line, next, isFirst: around.first == nil && count == 0) else { return line }
        while !isAll, lines.last.map(prefix.isOf) == true, lines.count < Self.codeMax {
            let next = try source.next()
            lines += next.map { [$0] } ?? []
            isAll = next == nil
        }
        guard let found = prefix.taken(off: lines[...], isAll: isAll) else { return line }
        lines = found
        return found[0]
    }

    /// The begin of a file that is a part of an object: its members, as lines. Adds the bracket that is missing before
    /// them; `nil` for any other line.
    private mutating func members(from line: [UInt8]) throws(Failure) -> [UInt8]? {
        guard PayloadStart.isMember(line), restsRead < Self.membersTried else { return nil }
        guard around.first.map({ !PayloadForm.isCode($0.line) && !PayloadStart.isLog(line) }) != false else {
            return nil
        }
        let rest = Self.lines(of: try rest()[...])
        if let found = PayloadStart.object(
            ofLines: [line] + rest, isFirst: around.first == nil && knownSentences.isEmpty)
        {
            note("\(file.name):\(source.number): \(found.name)")
            source.rest = Array(rest.dropFirst(found.lines - 1))
            return found.json
        }
        source.rest = rest
        guard around.first == nil, PayloadStart.isMemberOfJSON(line) else { return nil }
        note("\(file.name):\(source.number): a part of an object: read with { before it")
        return [UInt8(ascii: "{")] + line
    }

    /// The meaning of sentences in the begin of the file, each with its line.
    var knownSentences: [(line: Int, text: String)] {
        opensObjects ? KnownSentence.all(in: source.beginning) : []
    }

    /// Returns the meaning of a sentence in the begin of the file, behind the name of a text that is no payload.
    private func meaning() -> String { knownSentences.first.map { "; line \($0.line): \($0.text)" } ?? "" }

    /// The next element of an array.
    private mutating func nextOfList() throws(Failure) -> PayloadRecord? {
        guard let (index, element) = list?.elements.next(), let place = list.map({ "\($0.place)[\(index)]" }) else {
            list = nil
            return nil
        }
        count += 1
        wasWholeLine = true
        let document: JSONDocument
        do { document = try JSONDocument(scanning: element.compactBytes, limits: limits) } catch {
            preconditionFailure("a value of a document is a document: \(error.message)")
        }
        return try opened(
            PayloadRecord(
                document: try checked(document, place: place), place: place, line: source.number,
                firstLine: source.number))
    }

    /// A payload in a form other than JSON, with all of its lines; `nil` if it is no payload.
    ///
    /// - Parameter isTentative: whether only its keys can tell that it is a push; `nil`: there is no other text.
    private mutating func record(
        of text: PayloadText, from number: Int, isTentative: Bool? = nil
    ) throws(Failure) -> PayloadRecord? {
        var text = text
        var lines: [[UInt8]] = []
        while !text.isWhole, let raw = try source.next() {
            let line = isQuoted ? PayloadStart.unquoted(raw) : raw
            let isOfIt: Bool
            do { isOfIt = try text.add(line) } catch { throw failure(error, from: number) }
            guard isOfIt else {
                source.push(back: [raw])
                break
            }
            lines.append(raw)
            if isTentative == true, lines.count >= Self.codeMax { break }
        }
        if isTentative == true, !text.isWhole, !repairs || text.repaired() == nil {
            // An object of source code without an end: its lines may have another.
            restsRead += 1
            source.push(back: lines)
            throw file.fault("\(file.name):\(number): an object without an end")
        }
        var payload: WrittenPayload
        var remarks: [String] = []
        do {
            payload = try text.payload()
            remarks = payload.remarks
        } catch {
            guard repairs, let found = text.repaired() else {
                // A function's body may have a payload.
                if repairs, isTentative != nil, restsRead < Self.restsMax {
                    restsRead += 1
                    source.push(back: lines)
                }
                throw failure(error, from: number)
            }
            payload = found.payload
            report(found, from: number)
            source.push(back: lines.suffix(found.rest.count { $0 == UInt8(ascii: "\n") }))
        }
        if repairs, (try? JSONDocument(scanning: payload.json, limits: limits)) == nil,
            let found = RepairedPayload(payload.json)
        {
            // The body of a command.
            report(found, from: number + payload.bodyLine)
            payload = payload.with(json: found.json)
        }
        if let name = text.start.constant {
            around.constants.add(name, payload.json, isText: text.start.isEncoded)
        }
        let isEmpty =
            (text.start.constant != nil || text.start.part != nil) && platform == nil
            && payload.json.elementsEqual("{}".utf8)
        if text.start.isOfOtherCall || isEmpty { return nil }
        if let name = text.start.part?.object ?? text.start.constant, repairs, restsRead < Self.restsMax {
            let number = source.number
            let all = Self.lines(of: try rest()[...])
            let (joined, count) = text.start.joined(payload, with: all, constants: around.constants.values)
            let later = Array(all.dropFirst(count))
            source.goOn(with: later.allSatisfy(\.isEmpty) ? [] : later, at: number + count + 1)
            let isOfWeb = later.contains { PayloadStart.sendsWebPush($0, name) }
            if let joined {
                payload = joined
            } else if text.start.constant != nil, !isOfWeb, PayloadStart.isPart(name, of: later) {
                return nil
            }
            if isOfWeb { payload.platform = .web }
        }
        if let isTentative, !payload.isAboutPush(text.start, isTentative: isTentative) {
            // The body of a request may be in the options of a call.
            if repairs, restsRead < Self.restsMax, lines.contains(where: { PayloadForm.hasJSON($0) }) {
                restsRead += 1
                source.push(back: lines)
            }
            return nil
        }
        for remark in remarks { note("\(file.name):\(number): \(remark)") }
        reportForm(text.form, to: payload.host)
        if let name = payload.name, names.insert(name).inserted { note("\(file.name):\(number): read as \(name)") }
        let place = try place(from: number)
        let document: JSONDocument
        do {
            let asCame = try JSONDocument(scanning: payload.json, limits: limits)
            document = try JSONDocument(scanning: asCame.root.compactBytes, limits: limits)
        } catch {
            guard payload.bodyLine == 0 else {
                throw failure(error, in: payload.json, from: number + payload.bodyLine)
            }
            throw file.fault("\(file.name):\(number): \(text.form.name): not JSON: \(error.message)")
        }
        if document.root.kind == .array, document.root.elements.first?.kind == .object {
            list = (document.root.elements.enumerated().makeIterator(), place)
            return try nextOfList()
        }
        return try opened(
            PayloadRecord(
                document: try checked(document, place: place), place: place,
                line: place == file.name ? nil : number, isBehindText: isTentative != nil, firstLine: number,
                platform: payload.platform,
                app: payload.app, transport: payload.transport, headers: payload.headers))
    }

    private func report(_ found: RepairedPayload, from number: Int) {
        for remark in found.remarks { note("\(file.name):\(number + remark.line): \(remark.text)") }
    }

    /// Reports what was read, and keeps the platform that its notation says.
    private mutating func report(_ payload: WrittenPayload, _ form: PayloadForm, from number: Int) {
        for remark in payload.remarks { note("\(file.name):\(number): \(remark)") }
        reportForm(form)
        platformOfNotation = payload.platform
    }

    /// Reports the form of a file's payloads, once.
    private mutating func reportForm(_ form: PayloadForm, to host: String? = nil) {
        guard reportedForms.insert(form).inserted else { return }
        note("\(file.name): read as \(form.name)" + (host.map { " to \($0.showingControls())" } ?? ""))
    }

    /// The place of a payload that begins in a line: the file's name, if the file has nothing else.
    private mutating func place(from number: Int) throws(Failure) -> String {
        let isAlone = count == 1 && source.rest.isEmpty ? try file.isAtEnd() : false
        return isAlone ? file.name : "\(file.name):\(number)"
    }

    private func checked(_ document: JSONDocument, place: String) throws(Failure) -> JSONDocument {
        guard document.root.kind == .object else {
            throw file.fault("\(place): not an object: a payload is a JSON object")
        }
        return document
    }

    /// The JSON value that begins in a line.
    private mutating func document(of line: [UInt8], from number: Int) throws(Failure) -> JSONDocument {
        do {
            return try JSONDocument(scanning: line, limits: limits)
        } catch {
            // An incomplete first line may begin one object on many lines. A first line that does not end with a brace
            // may begin a broken one.
            wasWholeLine = count > 1 || line.last { !$0.isJSONWhiteSpace } == UInt8(ascii: "}")
            let mayHaveMore = count == 1 || isInText && opensObjects && restsRead < Self.restsMax
            let isIncomplete = mayHaveMore && error.offset >= line.count
            let isAtBracket = error.offset < line.count && "}]".utf8.contains(line[error.offset])
            if !isIncomplete, opensObjects, let (payload, form, rest) = PayloadForm.object(in: line),
                let document = try? JSONDocument(scanning: payload.json, limits: limits),
                count > 1 ? isInText : !isAtBracket && rest.isEmpty && RepairedPayload.isKnown(document.root)
            {
                report(payload, count == 1 ? form : .json, from: number)
                return document
            }
            let rest = isIncomplete || repairs && count == 1 && !wasWholeLine ? try rest() : []
            guard !rest.isEmpty else {
                if let found = repaired(line, from: number) { return found }
                throw failure(error, in: line, from: number)
            }
            return try compacted(line + [UInt8(ascii: "\n")] + rest, from: number)
        }
    }

    /// The lines that are left, as one text.
    private mutating func rest() throws(Failure) -> [UInt8] {
        restsRead += 1
        let lines = try source.takeRest()
        return Array((isQuoted ? lines.map(PayloadStart.unquoted) : lines).joined(separator: [UInt8(ascii: "\n")]))
    }

    private static func lines(of text: ArraySlice<UInt8>) -> [[UInt8]] {
        text.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).map(Array.init)
    }

    /// One object on many lines, as compact JSON: it may have another notation, and other text behind it.
    private mutating func compacted(_ text: [UInt8], from number: Int) throws(Failure) -> JSONDocument {
        do {
            let document = try JSONDocument(scanning: text, limits: limits)
            return try JSONDocument(scanning: document.root.compactBytes, limits: limits)
        } catch {
            if let found = repaired(text, from: number) { return found }
            guard opensObjects, let (payload, form, rest) = PayloadForm.object(in: text),
                let document = try? JSONDocument(scanning: payload.json, limits: limits),
                let compact = try? JSONDocument(scanning: document.root.compactBytes, limits: limits)
            else {
                if count > 1 || around.first != nil { source.rest = Array(Self.lines(of: text[...]).dropFirst()) }
                throw failure(error, in: text, from: number)
            }
            report(payload, form, from: number)
            goOn(behind: rest, of: text, from: number)
            return compact
        }
    }

    /// The object that begins a text, with its faults repaired; `nil` if they have no repair, or none is wanted.
    private mutating func repaired(_ text: [UInt8], from number: Int) -> JSONDocument? {
        guard repairs, !file.isAPNs, RepairedPayload.isNeeded(for: text), let found = RepairedPayload(text),
            let document = try? JSONDocument(scanning: found.json, limits: limits)
        else { return nil }
        report(found, from: number)
        goOn(behind: found.rest, of: text, from: number)
        return document
    }

    /// Goes on with the lines behind an object.
    private mutating func goOn(behind rest: ArraySlice<UInt8>, of text: [UInt8], from number: Int) {
        isInText = true
        // The first of them is the rest of the object's last line.
        source.goOn(
            with: Self.lines(of: rest), at: number + text[..<rest.startIndex].count { $0 == UInt8(ascii: "\n") })
    }

    private func failure(_ error: PayloadFormError, from number: Int) -> Failure {
        file.fault("\(file.name):\(number): \(error.message)")
    }

    private func failure(_ error: JSONError, in text: [UInt8], from number: Int) -> Failure {
        file.fault(error.text(in: text, from: number, of: file.name))
    }
}
