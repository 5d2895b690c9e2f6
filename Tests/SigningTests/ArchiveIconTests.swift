import FerryPropertyList
import FerrySample
import FerrySigning
import FerryZip
import Foundation
import TestKit
import Testing

@Suite struct `The icon in an archive` {
    private func candidates(_ bytes: [UInt8]) throws -> [ArchiveIcon] {
        let folder = try TemporaryFolder()
        return try ArchiveIcon.candidates(in: folder.write(bytes, to: "a.ipa"))
    }

    private func sample(_ change: (inout SampleApp) -> Void = { _ in }) throws -> [UInt8] {
        var app = SampleApp()
        app.approximateBytes = 200_000
        change(&app)
        return try app.archive(level: 1)
    }

    @Test func `is the largest that the Info.plist names`() throws {
        let icons = try candidates(sample())
        #expect(icons.map(\.path) == ["AppIcon60x60@3x.png", "AppIcon60x60@2x.png"].map { SampleApp.path + "/" + $0 })
        #expect(icons.map(\.png) == [SampleIcon.at3x, SampleIcon.at2x])
    }

    @Test func `is none where the app has none`() throws {
        let bytes = try sample { app in
            app.parts.remove(.icons)
            app.extraFiles = [.init(SampleApp.path + "/Assets.car", [1, 2, 3])]
            app.changeInfo = { $0["CFBundleIcons"] = ["CFBundlePrimaryIcon": ["CFBundleIconName": "AppIcon"]] }
        }
        #expect(try candidates(bytes) == [])
    }

    @Test func `is no extension's, no link, no folder and none that is too large`() throws {
        let app = SampleApp.path
        let bytes = try sample {
            $0.parts.remove(.icons)
            $0.changeInfo = { $0["CFBundleIconFiles"] = ["A", "B", "C", "D", "PlugIns/HarbourWidget.appex/E"] }
            $0.extraFiles = [
                .init(app + "/PlugIns/HarbourWidget.appex/A.png", [1]), .init(app + "/B.png", linkTo: "D.png"),
                .init(app + "/C.png/x", [1]),
                .init(app + "/D.png", [UInt8](repeating: 0, count: ArchiveIcon.maximumBytes)),
                .init(app + "/D@2x.png", [UInt8](repeating: 0, count: ArchiveIcon.maximumBytes + 1)),
            ]
        }
        #expect(try candidates(bytes).map(\.path) == [app + "/D.png"])
    }

    @Test func `is one of four at most`() throws {
        let bytes = try sample {
            $0.changeInfo = { $0["CFBundleIconFiles"] = .array((1...9).map { .string("I\($0)") }) }
            $0.extraFiles = (1...9).map { .init(SampleApp.path + "/I\($0).png", [UInt8($0)]) }
        }
        let names = try candidates(bytes).map { $0.path.split(separator: "/").last ?? "" }
        #expect(names == ["AppIcon60x60@3x.png", "AppIcon60x60@2x.png", "I9.png", "I8.png"])
    }

    @Test func `is the next best where one is damaged`() throws {
        var bytes = try sample()
        // The first byte of the packed icon comes after the name in its local header, and the extra field there.
        let name = Array((SampleApp.path + "/AppIcon60x60@3x.png").utf8)
        let start = try #require(bytes.firstRange(of: name)).upperBound
        for index in start..<start + 40 { bytes[index] ^= 0xFF }
        #expect(try candidates(bytes).map(\.png) == [SampleIcon.at2x])
    }

    @Test func `is found though all else is wrong`() throws {
        let bytes = try sample {
            $0.extraFiles = [
                .init(SampleApp.path + "/Harbour", [1, 2, 3]),
                .init(SampleApp.path + "/PlugIns/HarbourShare.appex/Info.plist", [4, 5, 6]),
            ]
        }
        #expect(try candidates(bytes).count == 2)
    }

    @Test func `is none where the Info.plist cannot be read`() throws {
        #expect(try candidates(sample { $0.extraFiles = [.init(SampleApp.path + "/Info.plist", [1, 2])] }) == [])
    }

    @Test(arguments: [[], Array("<!DOCTYPE html>".utf8)] as [[UInt8]]) func `is refused of what is no archive`(
        bytes: [UInt8]
    ) {
        let error = #expect(throws: SignError.self) { try candidates(bytes) }
        #expect(error?.code == .input)
    }

    @Test(.enabled(if: SharedFolder.exists, "\(SharedFolder.absent)")) func `is none in another's app without one`()
        throws
    {
        #expect(try ArchiveIcon.candidates(in: SharedFolder.corpus("fastlane-very-capable-app.ipa")) == [])
    }
}
