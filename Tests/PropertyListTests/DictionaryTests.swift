import FerryPropertyList
import Testing

@Suite struct `A dictionary` {
    @Test(arguments: [3, 40]) func `keeps its order through changes`(count: Int) {
        var dictionary = PropertyList.Dictionary()
        for number in 0..<count { dictionary["k\(count - number)"] = .integer(Int64(number)) }
        dictionary["k2"] = "changed"
        dictionary["k1"] = nil
        dictionary["absent"] = nil
        dictionary["new"] = true
        #expect(dictionary.keys == (2...count).reversed().map { "k\($0)" } + ["new"])
        #expect(dictionary["k2"] == "changed")
        #expect(dictionary["k1"] == nil)
        #expect(dictionary.count == count)
        #expect(dictionary.map(\.key) == dictionary.keys)
        #expect(dictionary.values.last == true)
    }

    @Test func `is equal to one in another order`() {
        let one: PropertyList.Dictionary = ["a": 1, "b": [2]]
        let other: PropertyList.Dictionary = ["b": [2], "a": 1]
        #expect(one == other)
        #expect(one.hashValue == other.hashValue)
        #expect(one != ["a": 1, "b": [3]])
        #expect(one != ["a": 1])
    }

    @Test func `tells keys apart by their bytes, and sorts by them`() {
        var dictionary = PropertyList.Dictionary()
        dictionary["\u{FC}"] = 1
        dictionary["u\u{308}"] = 2
        dictionary["Z"] = 3
        #expect(dictionary.count == 3)
        #expect(dictionary["\u{FC}"] == 1)
        #expect(dictionary["u\u{308}"] == 2)
        #expect(dictionary.sorted().values == [3, 2, 1])
    }

    @Test func `is reached and changed by a path`() {
        var dictionary: PropertyList.Dictionary = ["a": ["b": ["c": 1]], "x": 5]
        #expect(dictionary[path: "a", "b", "c"] == 1)
        #expect(dictionary[path: "a", "x", "c"] == nil)
        #expect(dictionary[path: "x", "y"] == nil)
        dictionary[path: "a", "b", "c"] = 2
        dictionary[path: "new", "inner"] = true
        dictionary[path: "absent", "inner"] = nil
        #expect(dictionary == ["a": ["b": ["c": 2]], "x": 5, "new": ["inner": true]])
        #expect(PropertyList.dictionary(dictionary)[path: "a", "b", "c"] == 2)
    }
}

@Suite struct `A date` {
    // From `date -u -d TEXT +%s`, GNU coreutils 9.1.
    @Test(
        arguments: [
            ("1970-01-01T00:00:00Z", 0), ("2001-01-01T00:00:00Z", 978_307_200), ("2000-02-29T12:34:56Z", 951_827_696),
            ("1969-12-31T23:59:59Z", -1), ("2024-12-31T23:59:59Z", 1_735_689_599),
            ("2100-03-01T00:00:00Z", 4_107_542_400), ("1900-02-28T00:00:00Z", -2_203_977_600),
            ("0001-01-01T00:00:00Z", -62_135_596_800), ("9999-12-31T23:59:59Z", 253_402_300_799),
            ("0000-01-01T00:00:00Z", -62_167_219_200),
        ]
    )
    func `is read and written`(text: String, seconds: Double) {
        #expect(PropertyListDate(text)?.secondsSince1970 == seconds)
        #expect(PropertyListDate(secondsSince1970: seconds).text == text)
    }

    @Test(
        arguments: [
            "", "2001-01-01", "2001-13-01T00:00:00Z", "2001-00-01T00:00:00Z", "2001-04-31T00:00:00Z",
            "1900-02-29T00:00:00Z", "2001-01-01T24:00:00Z", "2001-01-01T00:60:00Z", "2001-01-01T00:00:60Z",
            "2001-01-01T00:00:00", "2001-01-01t00:00:00z", "2001-01-01T00:00:00+1", "٢٠٠١-01-01T00:00:00Z",
        ]
    )
    func `is refused in another form`(text: String) {
        #expect(PropertyListDate(text) == nil)
    }

    @Test(arguments: [Double.nan, .infinity, -.infinity, 1e300, -1e300]) func `can be written whatever it is`(
        seconds: Double
    ) {
        #expect(PropertyListDate(PropertyListDate(secondsSince2001: seconds).text) != nil)
    }

    @Test func `is rounded down to the second in XML, and exact in binary`() throws {
        let date = PropertyListDate(secondsSince2001: -0.25)
        #expect(date.text == "2000-12-31T23:59:59Z")
        #expect(try PropertyList.parse(PropertyList.date(date).encoded(as: .binary)).value == .date(date))
    }
}
