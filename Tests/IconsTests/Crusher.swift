import Foundation
import TestKit
import Testing

/// Pictures made, crushed and read by a program that shares nothing with ours but the specification.
enum Crusher {
    static let python = Tool("python3")
    static let absent: Comment = "python3 is not there"

    /// What is wanted of a picture.
    struct Case: Sendable, Hashable, CustomStringConvertible {
        var width: Int
        var height: Int
        /// As in a PNG's header: 0 gray, 2 RGB, 3 palette, 4 gray with alpha, 6 RGBA.
        var color: Int
        var depth: Int
        var isInterlaced: Bool

        var description: String {
            "\(width)x\(height)-c\(color)-d\(depth)" + (isInterlaced ? "-adam7" : "")
        }

        static let all: [Case] = {
            var all: [Case] = []
            let kinds = [
                (0, 1), (0, 2), (0, 4), (0, 8), (0, 16), (2, 8), (2, 16), (3, 1), (3, 2), (3, 4), (3, 8), (4, 8),
                (4, 16),
                (6, 8), (6, 16),
            ]
            for (color, depth) in kinds {
                for isInterlaced in [false, true] {
                    for (width, height) in [(1, 1), (5, 3), (33, 21)] {
                        all.append(
                            Case(width: width, height: height, color: color, depth: depth, isInterlaced: isInterlaced)
                        )
                    }
                }
            }
            // Passes of Adam7 without pixels, and an icon of full size.
            all.append(Case(width: 2, height: 9, color: 6, depth: 8, isInterlaced: true))
            all.append(Case(width: 120, height: 120, color: 6, depth: 8, isInterlaced: false))
            return all
        }()
    }

    /// A picture in three forms.
    struct Made: Sendable {
        /// As it was before.
        let plain: [UInt8]
        /// As Xcode would crush it.
        let crushed: [UInt8]
        /// What the crushed one shows, 4 bytes a pixel.
        let rgba: [UInt8]
    }

    /// All cases, made in one go.
    static let made: [String: Made] = {
        guard let python, let folder = try? TemporaryFolder() else { return [:] }
        let lines = Case.all.map {
            "\($0) \($0.width) \($0.height) \($0.color) \($0.depth) \($0.isInterlaced ? 1 : 0)\n"
        }
        guard let result = try? python.run(["-c", script, "make", folder.path], input: Array(lines.joined().utf8)),
            result.status == 0
        else { return [:] }
        var made: [String: Made] = [:]
        for name in Case.all.map(\.description) {
            guard let plain = try? folder.read(name + ".plain.png"),
                let crushed = try? folder.read(name + ".crushed.png"), let rgba = try? folder.read(name + ".rgba")
            else { continue }
            made[name] = Made(plain: plain, crushed: crushed, rgba: rgba)
        }
        return made
    }()

    /// The samples of PNGs as Python reads them, each in as many bytes as its depth needs; of crushed ones red before
    /// blue and without their alpha.
    static func samples(of pngs: [String: [UInt8]]) throws -> [String: [UInt8]] {
        let folder = try TemporaryFolder()
        for (name, png) in pngs { try folder.write(png, to: name) }
        _ = try run(["samples", folder.path], Array(pngs.keys.map { $0 + "\n" }.joined().utf8))
        return try Dictionary(uniqueKeysWithValues: pngs.keys.map { ($0, try folder.read($0 + ".samples")) })
    }

    /// The samples of one PNG.
    static func samples(of png: [UInt8]) throws -> [UInt8] {
        try samples(of: ["png": png])["png"] ?? []
    }

    /// RGBA pixels, scaled in linear light by exact fractions of areas.
    static func scaled(
        _ rgba: [UInt8],
        _ width: Int,
        _ height: Int,
        to newWidth: Int,
        _ newHeight: Int
    ) throws -> [UInt8] {
        try run(["scale", "\(width)", "\(height)", "\(newWidth)", "\(newHeight)"], rgba)
    }

    struct Failure: Error {
        let text: String
    }

    private static func run(_ arguments: [String], _ input: [UInt8]) throws -> [UInt8] {
        guard let python else { throw Failure(text: "python3 is not there") }
        let result = try python.run(["-c", script] + arguments, input: input)
        guard result.status == 0 else { throw Failure(text: result.errors) }
        return result.output
    }

    /// Written from ISO/IEC 15948 and public descriptions of `CgBI`; only the standard library.
    private static let script = #"""
        import random, struct, sys, zlib

        SAMPLES = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}
        ADAM7 = [(0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2)]

        def chunk(kind, data):
            return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

        def paeth(a, b, c):
            p = a + b - c
            pa, pb, pc = abs(p - a), abs(p - b), abs(p - c)
            return a if pa <= pb and pa <= pc else b if pb <= pc else c

        def predict(kind, a, b, c):
            return [0, a, b, (a + b) // 2, paeth(a, b, c)][kind]

        def grids(width, height, interlaced):
            for x0, y0, dx, dy in ADAM7 if interlaced else [(0, 0, 1, 1)]:
                xs, ys = range(x0, width, dx), range(y0, height, dy)
                if len(xs) and len(ys):
                    yield xs, ys

        def pack(row, depth):
            if depth == 16:
                return b"".join(struct.pack(">H", v) for v in row)
            if depth == 8:
                return bytes(row)
            bits = "".join(format(v, "0%db" % depth) for v in row)
            bits += "0" * (-len(bits) % 8)
            return bytes(int(bits[i:i + 8], 2) for i in range(0, len(bits), 8))

        def unpack(data, depth, count):
            if depth == 16:
                return list(struct.unpack(">%dH" % count, data))
            if depth == 8:
                return list(data)
            bits = "".join(format(v, "08b") for v in data)
            return [int(bits[i * depth:(i + 1) * depth], 2) for i in range(count)]

        def pixel_bytes(pixels, width, height, color, depth, interlaced, filters):
            n = SAMPLES[color]
            distance = max(1, n * depth // 8)
            out = b""
            for xs, ys in grids(width, height, interlaced):
                above = None
                for number, y in enumerate(ys):
                    row = pack([v for x in xs for v in pixels[y * width + x]], depth)
                    above = above or bytes(len(row))
                    kind = filters(number)
                    out += bytes([kind])
                    for i, v in enumerate(row):
                        a = row[i - distance] if i >= distance else 0
                        c = above[i - distance] if i >= distance else 0
                        out += bytes([(v - predict(kind, a, above[i], c)) % 256])
                    above = row
            return out

        def read(data):
            chunks, at = [], 8
            while at < len(data):
                size, = struct.unpack(">I", data[at:at + 4])
                kind, body = data[at + 4:at + 8], data[at + 8:at + 8 + size]
                assert struct.unpack(">I", data[at + 8 + size:at + 12 + size])[0] == zlib.crc32(kind + body), kind
                chunks.append((kind, body))
                at += 12 + size
            assert chunks[-1][0] == b"IEND" and at == len(data)
            crushed = chunks[0][0] == b"CgBI"
            header = dict(chunks)[b"IHDR"]
            width, height, depth, color, _, _, interlaced = struct.unpack(">IIBBBBB", header)
            packed = b"".join(b for k, b in chunks if k == b"IDAT")
            raw = zlib.decompress(packed, -15 if crushed else 15)
            n = SAMPLES[color]
            distance = max(1, n * depth // 8)
            pixels, at = [None] * (width * height), 0
            for xs, ys in grids(width, height, interlaced):
                size = (len(xs) * n * depth + 7) // 8
                above = bytes(size)
                for y in ys:
                    kind, row = raw[at], bytearray(raw[at + 1:at + 1 + size])
                    at += 1 + size
                    for i in range(size):
                        a = row[i - distance] if i >= distance else 0
                        c = above[i - distance] if i >= distance else 0
                        row[i] = (row[i] + predict(kind, a, above[i], c)) % 256
                    values = unpack(bytes(row), depth, len(xs) * n)
                    for i, x in enumerate(xs):
                        pixels[y * width + x] = values[i * n:(i + 1) * n]
                    above = bytes(row)
            assert at == len(raw)
            return crushed, width, height, depth, color, pixels

        def divide(value, alpha, top):
            return 0 if alpha == 0 else min(top, (2 * value * top + alpha) // (2 * alpha))

        def restore(pixel, color, depth):
            top = (1 << depth) - 1
            pixel = list(pixel)
            if color in (2, 6):
                pixel[0], pixel[2] = pixel[2], pixel[0]
            if color in (4, 6):
                pixel = [divide(v, pixel[-1], top) for v in pixel[:-1]] + [pixel[-1]]
            return pixel

        def crush(pixel, color, depth):
            top = (1 << depth) - 1
            pixel = list(pixel)
            if color in (4, 6):
                pixel = [(2 * v * pixel[-1] + top) // (2 * top) for v in pixel[:-1]] + [pixel[-1]]
            if color in (2, 6):
                pixel[0], pixel[2] = pixel[2], pixel[0]
            return pixel

        def eight(value, depth):
            return (value * 255 + 32895) >> 16 if depth == 16 else value * 255 // ((1 << depth) - 1)

        def shown(pixel, color, depth, palette, opacity):
            if color == 3:
                return palette[pixel[0]] + [opacity[pixel[0]] if pixel[0] < len(opacity) else 255]
            values = [eight(v, depth) for v in pixel]
            if color in (0, 4):
                values = [values[0]] * 3 + values[1:]
            return values if len(values) == 4 else values + [255]

        def make(folder):
            for line in sys.stdin:
                name, width, height, color, depth, interlaced = line.split()
                width, height, color, depth, interlaced = map(int, (width, height, color, depth, interlaced))
                chance = random.Random(name)
                top = (1 << depth) - 1
                palette = [[chance.randrange(256) for _ in range(3)] for _ in range(1 << min(depth, 8))]
                opacity = [chance.randrange(256) for _ in range(len(palette) // 2)]
                pixels = []
                for i in range(width * height):
                    pixel = [chance.randint(0, top) for _ in range(SAMPLES[color])]
                    if color in (4, 6):
                        pixel[-1] = chance.choice([0, 1, top // 2, top - 1, top, pixel[-1], pixel[-1]])
                    pixels.append(pixel)
                header = struct.pack(">IIBBBBB", width, height, depth, color, 0, 0, interlaced)
                between = b""
                if color == 3:
                    between = chunk(b"PLTE", bytes(sum(palette, []))) + chunk(b"tRNS", bytes(opacity))
                between += chunk(b"tEXt", b"Title\0" + name.encode())
                raw = pixel_bytes(pixels, width, height, color, depth, interlaced, lambda y: (y + 1) % 5)
                signature = b"\x89PNG\r\n\x1a\n"
                with open(folder + "/" + name + ".plain.png", "wb") as file:
                    file.write(signature + chunk(b"IHDR", header) + between + chunk(b"IDAT", zlib.compress(raw))
                        + chunk(b"IEND", b""))
                crushed = [crush(p, color, depth) for p in pixels]
                raw = pixel_bytes(crushed, width, height, color, depth, interlaced, lambda y: (y + 3) % 5)
                packer = zlib.compressobj(9, zlib.DEFLATED, -15)
                packed = packer.compress(raw) + packer.flush()
                half = len(packed) // 2
                with open(folder + "/" + name + ".crushed.png", "wb") as file:
                    file.write(signature + chunk(b"CgBI", b"\x50\x00\x20\x02") + chunk(b"IHDR", header) + between
                        + chunk(b"iDOT", bytes(28)) + chunk(b"IDAT", packed[:half]) + chunk(b"IDAT", packed[half:])
                        + chunk(b"IEND", b""))
                with open(folder + "/" + name + ".rgba", "wb") as file:
                    for p in crushed:
                        file.write(bytes(shown(restore(p, color, depth), color, depth, palette, opacity)))

        def samples(folder):
            for line in sys.stdin:
                name = folder + "/" + line.rstrip("\n")
                crushed, width, height, depth, color, pixels = read(open(name, "rb").read())
                if crushed:
                    pixels = [restore(p, color, depth) for p in pixels]
                with open(name + ".samples", "wb") as file:
                    file.write(pack([v for p in pixels for v in p], max(depth, 8)))

        def scale(width, height, new_width, new_height):
            from fractions import Fraction
            rgba = sys.stdin.buffer.read()
            def light(v):
                v /= 255
                return v / 12.92 if v <= 0.04045 else ((v + 0.055) / 1.055) ** 2.4
            def back(l):
                v = l * 12.92 if l <= 0.0031308 else 1.055 * l ** (1 / 2.4) - 0.055
                return int(v * 255 + 0.5)
            def shares(old, new):
                for n in range(new):
                    start, end = Fraction(n * old, new), Fraction((n + 1) * old, new)
                    yield [(i, float(min(i + 1, end) - max(i, start))) for i in range(old)
                        if min(i + 1, end) > max(i, start)]
            out = bytearray()
            columns = list(shares(width, new_width))
            for rows in shares(height, new_height):
                for column in columns:
                    total, sums = 0.0, [0.0] * 4
                    for y, down in rows:
                        for x, across in column:
                            r, g, b, a = rgba[(y * width + x) * 4:][:4]
                            weight = down * across
                            total += weight
                            for i, v in enumerate((r, g, b)):
                                sums[i] += weight * a * light(v)
                            sums[3] += weight * a
                    alpha = sums[3] / total
                    out += bytes([back(s / sums[3]) if sums[3] else 0 for s in sums[:3]] + [int(alpha + 0.5)])
            sys.stdout.buffer.write(bytes(out))

        if sys.argv[1] == "make":
            make(sys.argv[2])
        elif sys.argv[1] == "scale":
            scale(*map(int, sys.argv[2:]))
        else:
            samples(sys.argv[2])
        """#
}
