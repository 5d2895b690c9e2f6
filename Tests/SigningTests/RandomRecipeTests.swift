import FerryAppBundle
import FerryPropertyList
import FerrySample
import FerrySigning
import Foundation
import TestKit
import Testing

/// An app that recipes are followed on, and what it has for them.
private struct Subject: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let share: String
    let widgetFolder: String
    /// An app that stays, or is in the app.
    let inner: String
    let scheme: String
    let removable: [String]
    let framework: String
    /// Libraries that its code loads.
    let libraries: [String]

    static let sample = Subject(
        testDescription: "the sample",
        share: "com.example.harbour.share",
        widgetFolder: "HarbourWidget.appex",
        inner: "com.example.harbour.tide",
        scheme: "harbour",
        removable: ["PkgInfo", "Charts", "Sounds/horn-000.caf", "Logbook/empty.bin", "de.lproj"],
        framework: "Tide.framework",
        libraries: ["libSystem.B.dylib", "Tide"]
    )

    static let bench = Subject(
        testDescription: "the bench archive",
        share: "com.peer.bench.share",
        widgetFolder: "Widget.appex",
        inner: "com.peer.bench",
        scheme: "bench",
        removable: ["PkgInfo", "data", "Assets.car", "nibs", "de.lproj"],
        framework: "Net.framework",
        libraries: ["/usr/lib/libSystem.B.dylib"]
    )

    /// Made once for all recipes.
    func archive() throws -> [UInt8] {
        guard testDescription == Self.sample.testDescription else { return try Oracle.bench.get().read("bench.ipa") }
        var app = SampleApp()
        app.approximateBytes = 100_000
        return try app.archive(level: 1)
    }
}

/// Recipes by chance, all of which can be followed.
private struct RandomRecipe {
    let subject: Subject
    var generator: SeededGenerator

    private mutating func often(_ body: (inout RandomRecipe) -> Void) {
        if Int.random(in: 0..<3, using: &generator) == 0 { body(&self) }
    }

    private mutating func text() -> String {
        let letters = Array("aZ9 -é港🌊\"\\&<")
        let count = Int.random(in: 1...8, using: &generator)
        return String((0..<count).map { _ in letters[Int.random(in: 0..<letters.count, using: &generator)] })
    }

    private mutating func flag() -> Bool { Bool.random(using: &generator) }

    mutating func make(_ files: TemporaryFolder) throws -> SigningRecipe {
        var recipe = SigningRecipe()
        often { recipe.displayName = $0.text() }
        often { recipe.version = "\(Int.random(in: 0...99, using: &$0.generator)).0" }
        often { recipe.build = "\(Int.random(in: 0...9999, using: &$0.generator))" }
        often { recipe.minimumOS = "\(Int.random(in: 9...18, using: &$0.generator)).1" }
        often { recipe.devices = $0.flag() ? [.iphone] : [.ipad, .iphone] }
        often { recipe.bundleIdentifier = "org.r\(Int.random(in: 0...99, using: &$0.generator)).app" }
        often { recipe.uniqueID = $0.flag() ? .always : .auto }
        often { recipe.removedURLSchemes = $0.flag() ? .all : .some([$0.subject.scheme]) }
        often { recipe.removesSupportedDevices = $0.flag() }
        often { recipe.fileSharing = $0.flag() }
        often { recipe.documentBrowser = $0.flag() }
        often { recipe.fullScreen = $0.flag() }
        often { recipe.proMotion = $0.flag() }
        often { recipe.gameMode = $0.flag() }
        often { recipe.appearance = $0.flag() ? .dark : .light }
        often { recipe.droppedExtensions = $0.flag() ? .all : .some([$0.subject.share]) }
        if recipe.droppedExtensions == nil {
            often { recipe.keptExtensions = $0.flag() ? [] : [$0.subject.widgetFolder] }
        }
        often { recipe.removesStoreFiles = $0.flag() }
        often { recipe.removesPlaceholders = $0.flag() }
        often { recipe.entitlementsMode = $0.flag() ? .profile : .file }
        often { random in
            for key in ["New.Key", "UIDeviceFamily.0", "*:All.Deep.er", random.subject.inner + ":X"]
            where random.flag() {
                guard let key = try? SigningRecipe.Key(key) else { continue }
                let typed = ["1", "1.5", "true", "[1, {}]", random.text()][
                    Int.random(in: 0..<5, using: &random.generator)
                ]
                recipe.settings.append(
                    .init(
                        key: key,
                        value: key.path.description == "UIDeviceFamily.0"
                            ? .exact(1) : .exact((try? .init(typed: typed)) ?? "x")
                    )
                )
            }
        }
        often { random in
            for path in random.subject.removable where random.flag() {
                recipe.removedFiles.append(path)
            }
        }
        var random = self
        for index in 0..<Int.random(in: 0...3, using: &generator) {
            let bytes =
                random.flag()
                ? TinyMachO {
                    $0.fileType = 6
                    $0.seed = UInt64(index)
                    $0.headerPad = 256
                }.bytes : random.generator.bytes(Int.random(in: 0...5000, using: &random.generator))
            let source = try files.write(bytes, to: "file-\(generator.next())")
            let folder = ["", "Frameworks/", "New/", "Frameworks/\(subject.framework)/"][index]
            recipe.addedFiles.append(.init(path: folder + "ü \(index).bin", source: source))
        }
        recipe.injectionNaming = random.flag() ? .rpath : .executablePath
        for index in 0..<Int.random(in: 0...2, using: &generator) {
            let library = TinyMachO {
                $0.fileType = 6
                $0.seed = UInt64(index)
                $0.headerPad = 256
                $0.installName = "/usr/lib/injected-\(index).dylib"
            }
            let source = try files.write(library.bytes, to: "\(generator.next())/lib ü\(index).dylib")
            let isAll = recipe.droppedExtensions == nil && recipe.keptExtensions == nil && random.flag()
            recipe.injections.append(.init(source, into: isAll ? .all : .app, isWeak: random.flag()))
        }
        often { random in
            for name in random.subject.libraries where random.flag() {
                if random.flag() {
                    recipe.removedLibraries.append(name)
                } else {
                    recipe.renamedLibraries.append(.init(name, to: "/x/\(random.flag())"))
                }
            }
        }
        return recipe
    }
}

@Suite(.enabled(if: Hands.usable, "\(TestAuthority.absent)"), .timeLimit(.minutes(60)))
struct `Recipes by chance` {
    private static let count = Int(ProcessInfo.processInfo.environment["FERRY_RECIPES"] ?? "") ?? 20
    private static let seed = UInt64(ProcessInfo.processInfo.environment["FERRY_RECIPE_SEED"] ?? "") ?? 20_260

    @Test(arguments: [Subject.sample] + (Oracle.exists ? [.bench] : []))
    private func `make apps without a fault`(subject: Subject) async throws {
        let archive = try subject.archive()
        let files = try TemporaryFolder()
        var random = RandomRecipe(subject: subject, generator: SeededGenerator(seed: Self.seed))
        for index in 0..<Self.count {
            let recipe = try random.make(files)
            let text =
                "recipe \(index) of seed \(Self.seed): "
                + String(decoding: try JSONEncoder().encode(recipe), as: UTF8.self)
            let desk = try Desk(archive)
            var options = try Hands.options()
            options.recipe = recipe
            do {
                let signed = try await desk.sign(options)
                let faults = try await desk.faults()
                #expect(faults == [], "\(text)")
                guard Oracle.exists else { continue }
                let others = try await onThread {
                    try Oracle.faults(desk.output, original: nil, id: signed.identifier, team: TestAuthority.team)
                }
                #expect(others == [], "\(text)")
            } catch {
                Issue.record("\(error) for \(text)")
            }
        }
    }
}
