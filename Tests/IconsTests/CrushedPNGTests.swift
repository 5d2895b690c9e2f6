import FerryIcons
import Foundation
import TestKit
import Testing

@Suite(.timeLimit(.minutes(10))) struct `A crushed PNG` {
    @Test(.enabled(if: Crusher.python != nil, Crusher.absent), arguments: Crusher.Case.all)
    func `shows the pixels that Python finds in it`(wanted: Crusher.Case) throws {
        let made = try #require(Crusher.made[wanted.description])
        let picture = try Picture(png: made.crushed)
        #expect(picture.width == wanted.width)
        #expect(picture.height == wanted.height)
        #expect(picture.rgba == made.rgba)
    }

    @Test(.enabled(if: Crusher.python != nil, Crusher.absent)) func `becomes a plain one with the same samples`() throws
    {
        var plain: [String: [UInt8]] = [:]
        for wanted in Crusher.Case.all {
            let made = try #require(Crusher.made[wanted.description])
            let crushed = try CrushedPNG(made.crushed)
            #expect(crushed.width == wanted.width)
            #expect(crushed.height == wanted.height)
            #expect(crushed.bitDepth == wanted.depth)
            #expect(crushed.isInterlaced == wanted.isInterlaced)
            let bytes = try crushed.plain()
            #expect(try Icon.png(from: made.crushed) == bytes)
            #expect(!CrushedPNG.isCrushed(bytes))
            // Apple's own chunks go, all others stay.
            let text = String(decoding: bytes, as: UTF8.self)
            #expect(!text.contains("CgBI") && !text.contains("iDOT") && text.contains("Title\0\(wanted)"))
            plain[wanted.description] = bytes
        }
        let expected = try Crusher.samples(of: Crusher.made.mapValues(\.crushed))
        let found = try Crusher.samples(of: plain)
        #expect(found.count == Crusher.Case.all.count)
        for (name, samples) in found { #expect(samples == expected[name], "\(name)") }
    }

    @Test(.enabled(if: Tool("pngcheck") != nil && Crusher.python != nil, "pngcheck or python3 is not there"))
    func `becomes a plain one that pngcheck passes`() throws {
        let pngcheck = try #require(Tool("pngcheck"))
        let folder = try TemporaryFolder()
        let files = try Crusher.made.map { name, made in
            try folder.write(CrushedPNG(made.crushed).plain(), to: name + ".png")
        }
        try #require(files.count == Crusher.Case.all.count)
        let result = try pngcheck.run(["-q"] + files)
        #expect(result.status == 0, "\(result.text)")
        // What it says of one that is still crushed.
        let crushed = try #require(Crusher.made.first?.value.crushed)
        #expect(try pngcheck.run(["-q", folder.write(crushed, to: "crushed.png")]).status != 0)
    }

    @Test(.enabled(if: Crusher.python != nil, Crusher.absent), arguments: [8, 16])
    func `was crushed from opaque pixels without a loss`(depth: Int) throws {
        let wanted = Crusher.Case(width: 33, height: 21, color: 2, depth: depth, isInterlaced: true)
        let made = try #require(Crusher.made[wanted.description])
        #expect(try Crusher.samples(of: CrushedPNG(made.crushed).plain()) == Crusher.samples(of: made.plain))
    }

    @Test(
        .enabled(if: SharedFolder.exists, "\(SharedFolder.absent)"),
        .enabled(if: Crusher.python != nil, Crusher.absent),
        arguments: [("cgbi-1.png", 20), ("cgbi-2.png", 40)]
    )
    func `of Apple's making is read`(name: String, side: Int) throws {
        let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: SharedFolder.corpus(name))))
        #expect(CrushedPNG.isCrushed(bytes))
        let picture = try Picture(png: bytes)
        #expect(picture.width == side && picture.height == side)
        #expect(try picture.rgba == Crusher.samples(of: bytes))
        #expect(try Crusher.samples(of: CrushedPNG(bytes).plain()) == picture.rgba)
    }
}

@Suite(.timeLimit(.minutes(10))) struct `A plain PNG` {
    /// What Python reads in them.
    private static let samples = (try? Crusher.samples(of: Crusher.made.mapValues(\.plain))) ?? [:]

    @Test(
        .enabled(if: Crusher.python != nil, Crusher.absent),
        arguments: Crusher.Case.all.filter { $0.color != 3 && $0.depth >= 8 }
    )
    func `shows its samples`(wanted: Crusher.Case) throws {
        let made = try #require(Crusher.made[wanted.description])
        let samples = try #require(Self.samples[wanted.description])
        let size = wanted.depth / 8
        let values = stride(from: 0, to: samples.count, by: size).map { at in
            size == 1
                ? samples[at] : UInt8(((UInt32(samples[at]) << 8 | UInt32(samples[at + 1])) * 255 + 32_895) >> 16)
        }
        let count = [0: 1, 2: 3, 4: 2, 6: 4][wanted.color] ?? 0
        let rgba = stride(from: 0, to: values.count, by: count).flatMap { at -> [UInt8] in
            let pixel = Array(values[at..<at + count])
            return switch count {
            case 1: [pixel[0], pixel[0], pixel[0], 255]
            case 2: [pixel[0], pixel[0], pixel[0], pixel[1]]
            case 3: pixel + [255]
            default: pixel
            }
        }
        #expect(try Picture(png: made.plain).rgba == rgba)
    }

    @Test(.enabled(if: Crusher.python != nil, Crusher.absent)) func `stays as it is`() throws {
        for made in Crusher.made.values {
            #expect(try Icon.png(from: made.plain) == made.plain)
            #expect(throws: IconError.self) { try CrushedPNG(made.plain) }
        }
    }

    @Test(.enabled(if: Crusher.python != nil, Crusher.absent)) func `comes back as it was written`() throws {
        for (name, made) in Crusher.made {
            let picture = try Picture(png: made.plain)
            let again = try Picture(png: picture.png)
            #expect(again == picture, "\(name)")
        }
    }
}
