import FerryPropertyList
import Testing

/// One value of every kind, as text that Apple's `plutil -convert xml1` would write.
let everyKind: PropertyList = [
    "text": "a & b <c> “d”",
    "small": 7,
    "negative": -1,
    "large": .integer(.max),
    "huge": .unsigned(.max),
    "real": 0.5,
    "yes": true,
    "no": false,
    "when": .date(PropertyListDate(secondsSince2001: 0)),
    "data": .data([0, 1, 2, 0xFF]),
    "nothing": [],
    "empty": [:],
    "list": ["x", ["y": "é😀"]],
]

@Suite struct `A property list` {
    @Test(arguments: [PropertyList.Format.xml, .binary])
    func `comes back as it was written`(format: PropertyList.Format) throws {
        let (value, found) = try PropertyList.parse(everyKind.encoded(as: format))
        #expect(value == everyKind)
        #expect(found == format)
        #expect(value.dictionary?.keys == everyKind.dictionary?.keys)
        #expect(value.encoded(as: format) == everyKind.encoded(as: format))
    }

    @Test func `is written as Apple writes XML`() {
        #expect(
            String(decoding: everyKind.encoded(as: .xml), as: UTF8.self) == """
                <?xml version="1.0" encoding="UTF-8"?>
                <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
                <plist version="1.0">
                <dict>
                \t<key>text</key>
                \t<string>a &amp; b &lt;c&gt; “d”</string>
                \t<key>small</key>
                \t<integer>7</integer>
                \t<key>negative</key>
                \t<integer>-1</integer>
                \t<key>large</key>
                \t<integer>9223372036854775807</integer>
                \t<key>huge</key>
                \t<integer>18446744073709551615</integer>
                \t<key>real</key>
                \t<real>0.5</real>
                \t<key>yes</key>
                \t<true/>
                \t<key>no</key>
                \t<false/>
                \t<key>when</key>
                \t<date>2001-01-01T00:00:00Z</date>
                \t<key>data</key>
                \t<data>
                \tAAEC/w==
                \t</data>
                \t<key>nothing</key>
                \t<array/>
                \t<key>empty</key>
                \t<dict/>
                \t<key>list</key>
                \t<array>
                \t\t<string>x</string>
                \t\t<dict>
                \t\t\t<key>y</key>
                \t\t\t<string>é😀</string>
                \t\t</dict>
                \t</array>
                </dict>
                </plist>

                """
        )
    }
}
