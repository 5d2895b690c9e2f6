import FerryAppBundle
import FerryBytes
package import FerryPropertyList

/// A value in a recipe, or in another file of that kind, with where it stands.
package struct RecipeValue {
    /// What messages call the file.
    package let file: String
    /// The keys and numbers that lead to it: `set.CFBundleVersion`, `remove[1]`; empty for the whole.
    package let path: String
    /// The value itself.
    package let value: PropertyList
    /// What to do about a wrong one, where there is nothing closer to say.
    let advice: String

    /// A value at a place.
    package init(file: String, path: String, value: PropertyList, advice: String = RecipeValue.advice) {
        self.file = file
        self.path = path
        self.value = value
        self.advice = advice
    }

    /// Reads JSON, of a size as people and programs write recipes.
    package init(json: [UInt8], file: String, advice: String = RecipeValue.advice) throws(RecipeError) {
        do {
            self.init(
                file: file,
                path: "",
                value: try PropertyList.parse(json: json, limits: Self.limits),
                advice: advice
            )
        } catch {
            throw RecipeError(.syntax, file, "", error.message, remedy: error.remedy)
        }
    }

    /// Far more than a recipe that people write or programs make.
    private static let limits = PropertyList.Limits(
        maximumByteCount: 16 << 20,
        maximumDepth: 64,
        maximumValueCount: 200_000
    )

    /// What to throw where something else is expected.
    package func unexpected(_ expected: String, remedy: String? = nil) -> RecipeError {
        RecipeError(.value, file, path, "expected \(expected), found \(found)", remedy: remedy ?? advice)
    }

    /// What to throw where the last part of the path, `key`, has no meaning; `keys` are those that have one.
    package func unknownKey(_ key: String, _ what: String, among keys: [String]) -> RecipeError {
        let near = suggestion(for: key, among: keys)
        return RecipeError(.unknownKey, file, path, what, remedy: near.map { "Did you mean “\($0)”?" } ?? advice)
    }

    /// What recipes' mistakes end in.
    package static let advice = "docs/recipe.md has every key with an example."

    private var found: String {
        switch value {
        case .string(let text): "the text “\(text.count > 60 ? text.prefix(60) + "…" : text)”".printable
        case .integer(let number): "the number \(number)"
        case .unsigned(let number): "the number \(number)"
        case .real(let number): "the number \(number)"
        case .boolean(let flag): "\(flag)"
        default: value.kindName
        }
    }

    /// The text; anything else is refused.
    package func string(_ expected: String = "a text") throws(RecipeError) -> String {
        guard case .string(let text) = value else { throw unexpected(expected) }
        return text
    }

    func bool() throws(RecipeError) -> Bool {
        guard case .boolean(let flag) = value else { throw unexpected("true or false") }
        return flag
    }

    /// The elements of a list, each with its number in its path.
    package func elements(_ expected: String) throws(RecipeError) -> [RecipeValue] {
        guard case .array(let elements) = value else { throw unexpected(expected) }
        return elements.enumerated().map { at("\(path)[\($0)]", $1) }
    }

    /// The texts of a list.
    package func strings(_ expected: String = "a list of texts") throws(RecipeError) -> [String] {
        var texts: [String] = []
        for element in try elements(expected) { texts.append(try element.string()) }
        return texts
    }

    /// The members of an object, each with its key in its path.
    package func members(_ expected: String) throws(RecipeError) -> [(key: String, value: RecipeValue)] {
        guard case .dictionary(let dictionary) = value else { throw unexpected(expected) }
        return dictionary.map { ($0, at("\(path).\($0)".printable, $1)) }
    }

    private func at(_ path: String, _ value: PropertyList) -> RecipeValue {
        RecipeValue(file: file, path: path, value: value, advice: advice)
    }

    func selection() throws(RecipeError) -> SigningRecipe.Selection {
        if case .string(let text) = value {
            guard text == "all" else { throw unexpected("“all” or a list of texts") }
            return .all
        }
        return .some(try strings("“all” or a list of texts"))
    }

    /// One of the words that the type has.
    package func choice<Choice: RawRepresentable<String> & CaseIterable>(_: Choice.Type) throws(RecipeError) -> Choice {
        let names = Choice.allCases.map(\.rawValue)
        let expected = "one of " + names.joined(separator: ", ")
        let text = try string(expected)
        guard let choice = Choice(rawValue: text) else {
            throw unexpected(expected, remedy: suggestion(for: text, among: names).map { "Did you mean \($0)?" })
        }
        return choice
    }

    func device() throws(RecipeError) -> SigningRecipe.Device {
        let all = SigningRecipe.Device.allCases
        if case .integer(let number) = value, let device = SigningRecipe.Device(rawValue: number) { return device }
        if case .string(let text) = value, let device = all.first(where: { $0.name == text }) { return device }
        throw unexpected("one of " + all.map(\.name).joined(separator: ", "))
    }

    func key(_ text: String) throws(RecipeError) -> SigningRecipe.Key {
        do {
            return try SigningRecipe.Key(text)
        } catch {
            throw RecipeError(.value, file, path, error.message, remedy: error.remedy)
        }
    }
}
