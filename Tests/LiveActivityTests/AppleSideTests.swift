import FerryLiveActivity
import Foundation
import TestKit
import Testing

#if os(Linux)
/// `Scripts/check-apple` asks the compiler, with stubs of Apple's frameworks, whether all fits that Xcode builds.
@Suite(.serialized, .enabled(if: Tool("swiftc") != nil && Tool("bash") != nil), .timeLimit(.minutes(10)))
struct `The Apple side` {
    private static let root = URL(filePath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    private static func check(_ package: URL) throws -> Tool.Result {
        let bash = try #require(Tool("bash"))
        return try bash.run([root.appending(path: "Scripts/check-apple").path, package.path])
    }

    @Test func `fits to Apple's frameworks as far as we use them`() async throws {
        let result = try await onThread { try Self.check(Self.root) }
        #expect(result.status == 0, "\(result.errors)")
        for part in ["sources of FerryLiveActivity fit", "example's app fits", "example's widget fits", "4 languages"] {
            #expect(result.text.contains(part), "\(result.text)")
        }
    }

    /// One mistake in a copy of the sources, and what is said of it.
    struct Mistake: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let file: String
        let right: String
        let wrong: String
        let complaint: String

        init(_ name: String, in file: String, _ right: String, _ wrong: String, _ complaint: String) {
            testDescription = name
            self.file = file
            self.right = right
            self.wrong = wrong
            self.complaint = complaint
        }

        static let all = [
            Mistake(
                "a bracket too many",
                in: "Examples/IslandApp/Widget/Island.swift",
                "var body: some View {",
                "var body: some View {{",
                "A source cannot be parsed"
            ),
            Mistake(
                "a call that ActivityKit does not have",
                in: "Modules/LiveActivity/Hosts/ActivityKitHost.swift",
                "pushType: .token",
                "pushKind: .token",
                "extra argument 'pushKind' in call"
            ),
            Mistake(
                "attributes without a content state",
                in: "Modules/LiveActivity/Content/IslandAttributes+ActivityKit.swift",
                "public typealias ContentState",
                "public typealias Content",
                "does not conform to protocol 'ActivityAttributes'"
            ),
            Mistake(
                "an activity in two tasks at once",
                in: "Examples/IslandApp/App/TokenForwarding.swift",
                "for id in Activity<IslandAttributes>.activities.map(\\.id) {",
                "for one in Activity<IslandAttributes>.activities { let id = one.id; group.addTask { _ = one.id }",
                "risks causing data races"
            ),
            Mistake(
                "a tint that is a text",
                in: "Examples/IslandApp/Widget/IslandWidget.swift",
                ".keylineTint(island.tint)",
                ".keylineTint(island.text.minimal)",
                "cannot convert value of type 'String' to expected argument type 'Color'"
            ),
            Mistake(
                "a preview of a form that there is not",
                in: "Examples/IslandApp/Widget/Previews.swift",
                ".dynamicIsland(.compact)",
                ".dynamicIsland(.tiny)",
                "has no member 'tiny'"
            ),
            Mistake(
                "a module that is not imported",
                in: "Examples/IslandApp/Widget/Pieces.swift",
                "import AppIntents\n",
                "",
                "missing import of defining module 'AppIntents'"
            ),
            Mistake(
                "a text that one language lacks",
                in: "Examples/IslandApp/Shared/ja.lproj/Localizable.strings",
                "\"release\" = ",
                "\"relaese\" = ",
                "Shared/ja.lproj/Localizable.strings has other keys"
            ),
            Mistake(
                "a text that is in no table",
                in: "Examples/IslandApp/Widget/Pieces.swift",
                "Label(\"hold\"",
                "Label(\"Hold\"",
                "No table has the text \"Hold\""
            ),
            Mistake(
                "a text without an end",
                in: "Examples/IslandApp/Shared/ar.lproj/Localizable.strings",
                "\";",
                "\"",
                "Shared/ar.lproj/Localizable.strings: not a text of the form"
            ),
        ]
    }

    @Test(arguments: Mistake.all) func `does not fit with`(_ mistake: Mistake) async throws {
        let result = try await onThread {
            let copy = try TemporaryFolder()
            for folder in ["Modules/Activity", "Modules/LiveActivity", "Examples/IslandApp", "Tests/AppleStubs"] {
                let place = copy.url.appending(path: folder)
                try FileManager.default.createDirectory(
                    at: place.deletingLastPathComponent(),
                    withIntermediateDirectories: true
                )
                try FileManager.default.copyItem(at: Self.root.appending(path: folder), to: place)
            }
            let source = String(decoding: try copy.read(mistake.file), as: UTF8.self)
            try #require(source.contains(mistake.right), "\(mistake.file) has no \(mistake.right) to be made wrong")
            try copy.write(source.replacingOccurrences(of: mistake.right, with: mistake.wrong).utf8, to: mistake.file)
            return try Self.check(copy.url)
        }
        #expect(result.status == 1)
        #expect(result.errors.contains(mistake.complaint), "\(result.errors)")
    }

    @Test func `has the same names in its sources and in its project`() throws {
        let folder = Self.root.appending(path: "Examples/IslandApp")
        func text(_ name: String) throws -> String {
            try String(contentsOf: folder.appending(path: name), encoding: .utf8)
        }
        let project = try text("project.yml")
        let group = try #require(try text("Shared/Shared.swift").firstMatch(of: #/AppGroup\("([^"]+)"\)/#)).1
        #expect(project.matches(of: #/group\.[a-z.]+/#).map { String($0.0) } == [String(group), String(group)])
        #expect(project.contains("CFBundleURLSchemes: [ferry]"))
        #expect(try text("Shared/Links.swift").contains("URL(string: \"ferry://installs\")"))
        #expect(project.contains("NSSupportsLiveActivities: true"))
        #expect(project.contains("NSExtensionPointIdentifier: com.apple.widgetkit-extension"))
    }

    @Test func `speaks the languages of the package`() throws {
        let folders = try FileManager.default.contentsOfDirectory(
            atPath: Self.root.appending(path: "Examples/IslandApp/Shared").path
        )
        let languages = folders.filter { $0.hasSuffix(".lproj") }.map { String($0.dropLast(6)) }
        #expect(languages.sorted() == IslandWords.builtIn.map(\.language).sorted())
    }
}
#endif
