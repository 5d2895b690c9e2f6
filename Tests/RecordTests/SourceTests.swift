import FerryRecord
import Testing

@Suite struct `A source in the record` {
    @Test(
        arguments: [
            ("https://example.com/a/Harbour.ipa", "https://example.com/a/Harbour.ipa", false),
            ("https://example.com/a.ipa?version=1.2&build=7", "https://example.com/a.ipa?version=1.2&build=7", false),
            ("https://example.com/a.ipa#top", "https://example.com/a.ipa", false),
            ("https://ann:s3cret@example.com:8443/a.ipa", "https://example.com:8443/a.ipa", true),
            ("https://s3cret@example.com/a.ipa", "https://example.com/a.ipa", true),
            ("https://a@b:s3c@ret@example.com/a.ipa", "https://example.com/a.ipa", true),
            ("https://ann:s3cret@example.com", "https://example.com", true),
            ("https://ann:s3cret@example.com?x=1", "https://example.com?x=1", true),
            ("HTTPS://ann:s3cret@example.com/a@b.ipa", "HTTPS://example.com/a@b.ipa", true),
            ("https://example.com/a.ipa?token=s3cret", "https://example.com/a.ipa", true),
            ("https://example.com/a.ipa?v=1&X-Amz-Signature=s3cret", "https://example.com/a.ipa", true),
            ("https://example.com/a.ipa?ACCESS_KEY=s3cret#x", "https://example.com/a.ipa", true),
            ("https://example.com/a.ipa?t=s3cret0123456789abcdef0123456789", "https://example.com/a.ipa", true),
            ("https://example.com/a.ipa?s3cret0123456789abcdef0123456789", "https://example.com/a.ipa", true),
            ("/srv/in/a?token=b@c.ipa", "/srv/in/a?token=b@c.ipa", false),
            ("file:///srv/a%3Fb.ipa", "file:///srv/a%3Fb.ipa", false),
            ("Harbour.ipa", "Harbour.ipa", false),
        ]
    )
    func `has no credentials`(source: String, text: String, isShortened: Bool) {
        let recorded = RecordedSource(source)
        #expect(recorded.text == text)
        #expect(recorded.isShortened == isShortened)
        #expect(!recorded.text.contains("s3c"))
        #expect(recorded.isPart(of: source))
        #expect(!recorded.isPart(of: "https://example.com/other.ipa"))
    }
}
