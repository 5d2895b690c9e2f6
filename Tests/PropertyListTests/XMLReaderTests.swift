import FerryBytes
import FerryPropertyList
import Testing

/// The XML text around one value.
private func document(_ body: String) -> [UInt8] {
    Array("<?xml version=\"1.0\"?>\n<plist version=\"1.0\">\n\(body)\n</plist>\n".utf8)
}

private func value(_ body: String) throws -> PropertyList {
    try PropertyList.parse(document(body)).value
}

@Suite struct `An XML reader` {
    @Test(
        arguments: [
            ("<string>a &amp;&lt;&gt;&quot;&apos; &#65;&#x1F600;</string>", "a &<>\"' A😀"),
            ("<string><![CDATA[<b>&amp;]]> c</string>", "<b>&amp; c"),
            ("<string>a<!-- no -->b</string>", "ab"),
            ("<string> kept\n\tas it is </string>", " kept\n\tas it is "),
            ("<string/>", ""), ("<string></string>", ""),
            ("<!-- before --><string>x</string><!-- after -->", "x"),
            ("<integer>-9223372036854775808</integer>", .integer(.min)),
            ("<integer>18446744073709551615</integer>", .unsigned(.max)),
            ("<integer> +7 </integer>", 7), ("<integer>0x1F</integer>", 31), ("<integer>-0x1f</integer>", -31),
            ("<real>-1.5e3</real>", -1500.0), ("<real>+infinity</real>", .real(.infinity)), ("<real>3</real>", 3.0),
            ("<true/>", true), ("<false></false>", false), ("<true />", true),
            ("<data>\n\tAAEC\n\t/w==\n</data>", .data([0, 1, 2, 255])), ("<data/>", .data([])),
            ("<data>A_AE-C</data>", .data([0, 1, 2])),
            ("<date>1970-01-01T00:00:00Z</date>", .date(PropertyListDate(secondsSince1970: 0))),
            ("<array/>", []), ("<dict>\n</dict>", [:]),
            ("<dict><key>CF$UID</key><integer>5</integer></dict>", .uid(5)),
        ] as [(String, PropertyList)]
    )
    func `understands`(body: String, expected: PropertyList) throws {
        #expect(try value(body) == expected)
    }

    @Test(
        arguments: [
            ("<integer>1.5</integer>", "no integer"), ("<integer/>", "no integer"),
            ("<integer>99999999999999999999</integer>", "no integer"), ("<integer>--1</integer>", "no integer"),
            ("<integer>-9223372036854775809</integer>", "no integer"),
            ("<real>0x1p3</real>", "no real"), ("<real></real>", "no real"), ("<data>A</data>", "base 64"),
            ("<data>A=BC</data>", "base 64"), ("<data>AA=</data>", "base 64"),
            ("<date>2001-02-29T00:00:00Z</date>", "no date"), ("<date>2001-01-01</date>", "no date"),
            ("<string>&nbsp;</string>", "&nbsp;"), ("<string>&#0;</string>", "&#0;"),
            ("<string>&#xD800;</string>", "&#xD800;"), ("<string>& b</string>", "&"),
            ("<string>a</key>", "closed by the end of another tag"), ("<string>a<true/></string>", "not closed"),
            ("<true>x</true>", "not closed"), ("<key>a</key>", "where a value is due"),
            ("<dict><string>a</string></dict>", "where a key is due"), ("<dict><key>a</key></dict>", "no value"),
            ("<dict><key>a</key><true/><key>a</key><false/></dict>", "comes twice"),
            ("<null/>", "<null> is no tag"), ("hello", "text stands"), ("<true/><true/>", "not closed"),
            ("", "no tag"),
        ]
    )
    func `refuses`(body: String, says: String) {
        let error = #expect(throws: PropertyListError.self) { try value(body) }
        #expect(error?.code == .malformed)
        #expect(error?.message.contains(says) == true, "\(error?.message ?? "")")
        #expect(error?.remedy != nil)
    }

    @Test func `says at which line and byte`() {
        let error = #expect(throws: PropertyListError.self) { try value("<array>\n<true/>\n<bad/>\n</array>") }
        #expect(
            error?.message
                == "The XML property list is damaged at line 5 (byte 60): <bad> is no tag of a property list."
        )
        #expect(error?.offset == 60)
    }

    @Test(
        arguments: [
            ("<html><body>404</body></html>", .notAPropertyList, "it begins with <html>"),
            ("<!DOCTYPE html><html></html>", .notAPropertyList, "it begins with <!DOCTYPE html>"),
            ("BOGUS BOGUS", .notAPropertyList, "it begins with BOGUS BOGUS"),
            ("", .notAPropertyList, "it is empty"), ("\u{1}\u{2}", .notAPropertyList, "the bytes 0102"),
            ("{ a = b; }", .unsupportedFormat, "old-style (ASCII)"),
            ("\"a\" = \"b\";", .unsupportedFormat, "old-style (ASCII)"),
            ("// c\n{}", .unsupportedFormat, "old-style (ASCII)"),
            ("bplist15 later", .unsupportedFormat, "another version"),
        ] as [(String, PropertyListError.Code, String)]
    )
    func `names what is no property list`(text: String, code: PropertyListError.Code, says: String) {
        let error = #expect(throws: PropertyListError.self) { try PropertyList.parse(Array(text.utf8)) }
        #expect(error?.code == code)
        #expect(error?.message.contains(says) == true, "\(error?.message ?? "")")
    }

    @Test func `expands nothing that a DOCTYPE declares`() {
        let bomb = """
            <!DOCTYPE plist [<!ENTITY a "ha"><!ENTITY b "&a;&a;">]><plist><string>&b;</string></plist>
            """
        let error = #expect(throws: PropertyListError.self) { try PropertyList.parse(Array(bomb.utf8)) }
        #expect(error?.message.contains("entities of its own") == true)
    }

    @Test(arguments: [([0xEF, 0xBB, 0xBF], false, 0), ([0xFE, 0xFF], true, 0), ([0xFF, 0xFE], true, 1)])
    func `knows a byte order mark`(mark: [Int], isWide: Bool, high: Int) throws {
        let text = "<plist><string>é😀</string></plist>"
        var bytes = mark.map { UInt8($0) }
        if isWide {
            for unit in text.utf16 { bytes.append(unit, high == 0 ? .big : .little) }
        } else {
            bytes += Array(text.utf8)
        }
        #expect(try PropertyList.parse(bytes).value == "é😀")
        #expect(throws: PropertyListError.self) { try PropertyList.parse(Array(bytes.dropLast())) }
    }

    @Test func `refuses other encodings than it can read, but not ASCII by another name`() throws {
        let head = Array("<?xml version='1.0' encoding='ISO-8859-1'?><plist><string>".utf8)
        let tail = Array("</string></plist>".utf8)
        #expect(try PropertyList.parse(head + Array("abc".utf8) + tail).value == "abc")
        let error = #expect(throws: PropertyListError.self) { try PropertyList.parse(head + [0xE9] + tail) }
        #expect(error?.message.contains("ISO-8859-1") == true)
        let plain = Array("<plist><string>".utf8) + [0xE9] + tail
        #expect(throws: PropertyListError.self) { try PropertyList.parse(plain) }
    }

    @Test func `keeps to its limits`() throws {
        let deep = { (count: Int) in
            document(String(repeating: "<array>", count: count) + String(repeating: "</array>", count: count))
        }
        _ = try PropertyList.parse(deep(128))
        for bytes in [deep(129), deep(200_000)] {
            let error = #expect(throws: PropertyListError.self) { try PropertyList.parse(bytes) }
            #expect(error?.code == .tooMuch)
        }
        let many = document("<array>" + String(repeating: "<true/>", count: 20) + "</array>")
        let limits = PropertyList.Limits(maximumByteCount: 1000, maximumDepth: 5, maximumValueCount: 20)
        #expect(throws: PropertyListError.self) { try PropertyList.parse(many, limits: limits) }
        #expect(throws: PropertyListError.self) {
            try PropertyList.parse([UInt8](repeating: 0x20, count: 1001), limits: limits)
        }
    }

    @Test(.timeLimit(.minutes(10))) func `takes no longer than its text is long`() throws {
        // Quadratic work on so many references would take many minutes.
        let many = 200_000
        let body = "<string>" + String(repeating: "&amp;", count: many) + "</string>"
        #expect(try value(body).string?.utf8.count == many)
    }

    @Test func `takes a slice as well`() throws {
        let bytes = [1, 2] + document("<true/>") + [3]
        #expect(try PropertyList.parse(bytes[2..<bytes.count - 1]).value == true)
    }
}
