import FerryLiveActivity
import Foundation

extension IslandWords {
    /// The island's words in the language that the app runs in.
    ///
    /// That is not always the phone's first language: only those count that the target has a `.lproj` folder for, so
    /// that the layout and all words go together. `Island.strings` in one of them replaces the package's words, with the
    /// keys of `IslandWords.keys`; that is how a language comes in that the package does not have.
    static let ofTheApp: IslandWords = {
        let language = Bundle.main.preferredLocalizations.first ?? "en"
        guard let file = Bundle.main.url(forResource: "Island", withExtension: "strings"),
            let data = try? Data(contentsOf: file),
            let table = try? PropertyListDecoder().decode([String: String].self, from: data)
        else { return words(for: language) }
        return IslandWords(language: language, table)
    }()
}
