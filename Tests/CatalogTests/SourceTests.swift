import FerryAppBundle
import FerryBytes
import Testing

@testable import FerryCatalog

/// Sources as they are published, written anew: one for each generation and habit.
@Suite struct `A source` {
    @Test func `of the present form is read whole`() throws {
        let list = try source(
            """
            {
              "name": "Harbour Apps", "identifier": "com.example.list", "sourceURL": "https://example.com/apps.json",
              "subtitle": "Boats", "description": "Apps\\nfor boats", "iconURL": "https://example.com/icon.png",
              "headerURL": "https://example.com/header.png", "website": "https://example.com", "patreonURL": "",
              "tintColor": "#0A5F9C", "featuredApps": ["com.example.harbour"], "userInfo": {}, "news": [{"title": "x"}],
              "somethingNew": {"deep": [1, 2, {"a": null}]},
              "apps": [{
                "name": "Harbour", "bundleIdentifier": "com.example.harbour", "developerName": "Ann",
                "marketplaceID": "6738000000", "subtitle": "Tides", "localizedDescription": "All tides.",
                "iconURL": "https://example.com/harbour.png", "tintColor": "0a5f9c", "category": "utilities",
                "screenshots": {
                  "iphone": ["https://example.com/1.png", {"imageURL": "https://example.com/2.png", "width": 390, "height": "844"}],
                  "ipad": [{"imageURL": "https://example.com/3.png"}]
                },
                "appPermissions": {
                  "entitlements": ["com.apple.security.application-groups", {"name": "aps-environment"}],
                  "privacy": {"NSCameraUsageDescription": "To scan."}
                },
                "patreon": {},
                "versions": [
                  {"version": "2.0", "buildVersion": "42", "date": "2026-03-05T14:30:00.250+02:00",
                   "localizedDescription": "Ebb.", "downloadURL": "https://example.com/Harbour-2.0.ipa", "size": 1048577,
                   "sha256": "9F86D081884C7D659A2FEAA0C55AD015A3BF4F1B2B0B822CD15D6C15B0F00A08",
                   "minOSVersion": "17.0", "maxOSVersion": null},
                  {"version": "1.0", "date": "2025-01-31", "downloadURL": "https://example.com/Harbour-1.0.ipa",
                   "size": 4711, "minOSVersion": "14.0", "maxOSVersion": "16.7.8"}
                ]
              }]
            }
            """
        )
        #expect(list.problems == [])
        #expect(list.name == "Harbour Apps")
        #expect(list.identifier == "com.example.list")
        #expect(list.about == "Apps\nfor boats")
        #expect(list.website == "https://example.com")
        #expect(list.featuredApps == ["com.example.harbour"])
        let app = try #require(list.apps.first)
        #expect(list.apps.count == 1)
        #expect(app.developer == "Ann")
        #expect(app.marketplaceID == "6738000000")
        #expect(app.category == "utilities")
        #expect(app.screenshots.map(\.device) == ["iphone", "iphone", "ipad"])
        #expect(app.screenshots.map(\.height) == [nil, 844, nil])
        #expect(app.entitlements == ["com.apple.security.application-groups", "aps-environment"])
        #expect(app.privacy == ["NSCameraUsageDescription": "To scan."])
        let newest = try #require(app.versions.first)
        #expect(newest.build == "42")
        #expect(newest.date == (try instant("2026-03-05T12:30:00Z")))
        #expect(newest.byteCount == 1_048_577)
        // What `printf test | sha256sum` says.
        #expect(newest.sha256?.hex == "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08")
        #expect(newest.minimumOS == SystemVersion("17.0"))
        #expect(newest.maximumOS == nil)
        #expect(app.versions.last?.maximumOS == SystemVersion("16.7.8"))
        #expect(app.versions.last?.date == (try instant("2025-01-31T00:00:00Z")))
    }

    @Test func `of the first form has its version on the app`() throws {
        let list = try source(
            """
            \u{FEFF}{"name": "Old", "identifier": "com.example.old", "apps": [{
              "name": "Kettle", "bundleIdentifier": "com.example.kettle", "developerName": "Bo",
              "version": "16.29.4 (5.2.28)", "versionDate": "2021-06-08T14:00:00-07:00", "versionDescription": "Steam",
              "downloadURL": "https://example.com/Kettle%20(5).ipa?dl=0", "iconURL": "https://example.com/k.png",
              "localizedDescription": "Boils.", "size": "111886527", "beta": false, "tintColor": "4179b5",
              "screenshotURLs": ["https://example.com/1.png"],
              "permissions": [{"type": "camera", "usageDescription": "Sees."}]
            }], "news": [], "userInfo": {}}
            """
        )
        #expect(list.problems == [])
        let app = try #require(list.apps.first)
        let version = try #require(app.versions.first)
        #expect(app.versions.count == 1)
        #expect(version.version == "16.29.4 (5.2.28)")
        #expect(version.releaseNotes == "Steam")
        #expect(version.date == (try instant("2021-06-08T21:00:00Z")))
        #expect(version.byteCount == 111_886_527)
        #expect(version.downloadURL == "https://example.com/Kettle%20(5).ipa?dl=0")
        #expect(app.screenshots == [AppSource.Screenshot(url: "https://example.com/1.png")])
        #expect(app.privacy == ["camera": "Sees."])
    }

    @Test func `of both forms at once is read by the present one`() throws {
        let list = try source(
            """
            {"name": "Both", "apps": [{
              "name": "Quill", "bundleIdentifier": "com.example.quill", "version": "2.5", "versionDate": "2020-01-01",
              "downloadURL": "https://example.com/stale.ipa", "size": 1, "screenshotURLs": ["https://example.com/1.png"],
              "screenshots": [], "appPermissions": {}, "versions": [
                {"version": "2.6.0", "date": "2025-12-22T08:20:00Z", "size": 12598584, "downloadURL": "https://example.com/new.ipa"}
            ]}]}
            """
        )
        #expect(list.problems == [])
        #expect(list.apps.first?.versions.map(\.version) == ["2.6.0"])
        #expect(list.apps.first?.screenshots.count == 1)
    }

    @Test func `made by hand lacks much and says it in other types`() throws {
        let list = try source(
            """
            {"apps": [
              {"bundleIdentifier": "com.example.nameless", "version": 805, "versionDate": 1709596800,
               "downloadURL": "http://example.com/a b.ipa", "size": 0, "beta": "true", "iconURL": "", "website": "",
               "appPermissions": {"entitlements": {}, "privacy": [{"name": "NSPhotoLibraryUsageDescription", "usageDescription": "Looks."}]},
               "localizedDescription": {"de": "Hallo", "en": "Hello"},},
              {"name": "Lamp", "bundleIdentifier": "com.example.lamp", "versions": [
                {"version": "1.0", "buildVersion": 7, "date": 1709596800000, "downloadURL": "../files/Lamp.ipa",
                 "size": 2.5e6, "minOSVersion": 15.4, "maxOSVersion": 17, "sha256": ""},
              ]},
            ]}
            """
        )
        #expect(list.problems == [])
        #expect(list.name == nil)
        let first = try #require(list.apps.first)
        #expect(first.name == "com.example.nameless")
        #expect(first.isBeta)
        #expect(first.about == "Hello")
        #expect(first.privacy == ["NSPhotoLibraryUsageDescription": "Looks."])
        #expect(first.versions[0].version == "805")
        #expect(first.versions[0].byteCount == nil)
        #expect(first.versions[0].downloadURL == "http://example.com/a b.ipa")
        let lamp = try #require(list.apps.last?.versions.first)
        #expect(lamp.downloadURL == "https://example.com/files/Lamp.ipa")
        #expect(lamp.build == "7")
        #expect(lamp.byteCount == 2_500_000)
        #expect(lamp.date == (try instant("2024-03-05T00:00:00Z")))
        #expect(first.versions[0].date == lamp.date)
        #expect(lamp.minimumOS == SystemVersion("15.4"))
        #expect(lamp.maximumOS == SystemVersion("17.0"))
        #expect(lamp.sha256 == nil)
    }

    @Test func `of a file starts from where it says that it is published`() throws {
        let json = """
            {"sourceURL": "https://example.com/lists/apps.json", "apps": [
              {"bundleIdentifier": "com.example.a", "version": "1", "downloadURL": "a.ipa"}]}
            """
        #expect(try source(json, url: nil).apps[0].versions[0].downloadURL == "https://example.com/lists/a.ipa")
    }

    @Test func `of many variants has the same app again and again`() throws {
        func entry(_ name: String, _ version: String) -> String {
            """
            {"name": "\(name)", "bundleIdentifier": "com.example.chat", "version": "\(version)", "versionDate": "2024-03-05",
             "downloadURL": "https://example.com/\(name)-\(version).ipa"}
            """
        }
        let all = [("Rose", "219.0"), ("Thorn", "10.0"), ("rose", "220.0"), ("Rose", "9.0"), ("Rose", "219.0")]
        let list = try source("{\"apps\": [\(all.map(entry).joined(separator: ","))]}")
        #expect(list.problems == [])
        #expect(list.apps.map(\.name) == ["Rose", "Thorn"])
        #expect(list.apps[0].versions.map(\.version) == ["220.0", "219.0", "9.0"])
    }

    @Test func `that appends its versions at the end is put in order`() throws {
        let versions = ["1.9", "1.10", "v1.2", "2.0-beta.2", "2.0", "1.10.0.1"].map {
            "{\"version\": \"\($0)\", \"downloadURL\": \"https://example.com/\($0).ipa\"}"
        }
        let list = try source(
            """
            {"name": "Backwards", "apps": [{"name": "A", "bundleIdentifier": "com.example.a", "versions":
            [\(versions.joined(separator: ","))]}]}
            """
        )
        #expect(list.apps[0].versions.map(\.version) == ["2.0", "2.0-beta.2", "1.10.0.1", "1.10", "1.9", "v1.2"])
    }
}

@Suite struct `A damaged source` {
    @Test func `with one bad entry loses that entry, and says which`() throws {
        let list = try source(
            """
            {"name": "Mixed", "apps": [
              {"name": "Good", "bundleIdentifier": "com.example.good", "version": "1.0", "downloadURL": "https://example.com/good.ipa"},
              {"name": "Lost", "version": "1.0", "downloadURL": "https://example.com/lost.ipa"},
              {"name": "Also good", "bundleIdentifier": "com.example.also", "version": "1.0", "downloadURL": "https://example.com/also.ipa"}
            ]}
            """
        )
        #expect(list.apps.map(\.name) == ["Good", "Also good"])
        #expect(
            list.problems.map(\.description) == [
                "apps[1] “Lost”, bundleIdentifier: it is missing; the app is left out."
            ]
        )
    }

    @Test(arguments: [
        (#"null"#, "apps[0]: expected an app, found nothing"),
        (#""x""#, "apps[0]: expected an app, found the text “x”"),
        (#"[1]"#, "apps[0]: expected an app, found a list"), (#"7"#, "apps[0]: expected an app, found the number 7"),
        (
            #"{"name": "N", "bundleIdentifier": "com.example.n", "versions": []}"#,
            "apps[0] “N” (com.example.n): there is no version that could be downloaded"
        ),
        (
            #"{"name": "N", "bundleIdentifier": "", "versions": []}"#, "apps[0] “N” (), bundleIdentifier: it is missing"
        ),
    ])
    func `tells why an app is left out`(app: String, words: String) throws {
        let good =
            #"{"bundleIdentifier": "com.example.good", "version": "1", "downloadURL": "https://example.com/g.ipa"}"#
        let list = try source("{\"apps\": [\(app), \(good)]}")
        #expect(list.apps.map(\.identifier) == ["com.example.good"])
        #expect(list.problems.last?.description == words + "; the app is left out.")
    }

    @Test(arguments: [
        (#"{"downloadURL": "https://e.com/a"}"#, "version: it is missing"),
        (#"{"version": "1", "downloadURL": ""}"#, "downloadURL: it is missing or empty"),
        (#"{"version": "1"}"#, "downloadURL: it is missing or empty"),
        (
            "{\"version\": \"1\", \"downloadURL\": \"https://e.com/a\\u0000b\"}",
            "downloadURL: “https://e.com/a\\0b” is no whole URL, nor one from here"
        ),
        (
            #"{"version": "1", "downloadURL": "ftp://e.com/a?token=s"}"#,
            "downloadURL: “ftp://e.com/a?…” is neither http nor https"
        ),
        (
            #"{"version": "1", "downloadURL": "javascript:alert(1)"}"#,
            "downloadURL: “javascript:alert(1)” is no whole URL, nor one from here"
        ),
        (
            #"{"version": "1", "downloadURL": "file:///etc/passwd"}"#,
            "downloadURL: “file:///etc/passwd” is no whole URL, nor one from here"
        ),
        (
            #"{"version": "1", "downloadURL": "https://e.com/a", "sha256": "abc"}"#,
            "sha256: expected 64 hexadecimal digits"
        ),
        (
            #"{"version": "1", "downloadURL": "https://e.com/a", "sha256": 12}"#,
            "sha256: expected 64 hexadecimal digits"
        ),
    ])
    func `tells why a version is left out`(version: String, words: String) throws {
        let list = try source(
            """
            {"apps": [{"name": "A", "bundleIdentifier": "com.example.a", "versions": [
              {"version": "0.9", "downloadURL": "https://example.com/old.ipa"}, \(version), 5
            ]}]}
            """
        )
        #expect(list.apps.first?.versions.map(\.version) == ["0.9"])
        #expect(
            list.problems.map(\.description) == [
                "apps[0] “A” (com.example.a), versions[1].\(words); the version is left out.",
                "apps[0] “A” (com.example.a), versions[2]: expected a version, found the number 5; the version is left out.",
            ]
        )
    }

    @Test(arguments: [
        (#""size": "big""#, "size: expected a number of bytes, found the text “big”"),
        (#""size": -5"#, "size: expected a number of bytes, found the number -5"),
        (#""size": 1.5"#, "size: expected a number of bytes, found the number 1.5"),
        (#""size": 1e999"#, "size: expected a number of bytes, found the number inf"),
        (#""size": 99999999999999999999"#, "size: expected a number of bytes, found the number 1e+20"),
        (#""size": [1]"#, "size: expected a number of bytes, found a list"),
        (#""date": "soon""#, "date: expected a date, found the text “soon”"),
        (#""date": "2024-02-30""#, "date: expected a date, found the text “2024-02-30”"),
        (#""date": true"#, "date: expected a date, found true"),
        (#""date": -1"#, "date: expected a date, found the number -1"),
        (#""minOSVersion": "new""#, "minOSVersion: expected the version of a system, found the text “new”"),
        (#""maxOSVersion": {"a": 1}"#, "maxOSVersion: expected the version of a system, found an object"),
        (#""buildVersion": ["7"]"#, "buildVersion: expected a text, found a list"),
        (#""localizedDescription": 4e400"#, "localizedDescription: expected a text, found the number inf"),
    ])
    func `tells which field it cannot read, and keeps the version`(field: String, words: String) throws {
        let list = try sourceOfOne(field)
        #expect(list.apps.first?.versions.count == 1)
        #expect(
            list.problems.map(\.description) == [
                "apps[0] “Harbour” (com.example.harbour), versions[0].\(words); the field is left out."
            ]
        )
    }

    @Test func `tells of a version that is there twice with another address`() throws {
        let list = try source(
            """
            {"apps": [{"name": "A", "bundleIdentifier": "com.example.a", "versions": [
              {"version": "1.0", "downloadURL": "https://example.com/1.ipa"},
              {"version": "1.0", "downloadURL": "https://example.com/1.ipa"},
              {"version": "1.0", "downloadURL": "https://example.com/2.ipa"},
              {"version": "1.0", "downloadURL": "https://example.com/3.ipa", "maxOSVersion": "15.0"}
            ]}]}
            """
        )
        #expect(list.apps[0].versions.map(\.downloadURL) == ["https://example.com/1.ipa", "https://example.com/3.ipa"])
        #expect(
            list.problems.map(\.description) == [
                "“A” (com.example.a): the version 1.0 is there again with other values; the version is left out."
            ]
        )
    }

    @Test(arguments: [
        ("<!DOCTYPE html>\n<html>Sign in", CatalogError.Code.notASource, "it begins with “<!DOCTYPE html>”"),
        ("source[AbCd==]", .unsupported, "encoded list of sources"), ("", .notASource, "this is empty"),
        (" \n ", .notASource, "this is empty"), ("{\"apps\": [", .notASource, "line 1"),
        ("{\"apps\": {}}", .notASource, "no list “apps”"), ("[]", .notASource, "no list “apps”"),
        ("{\"apps\": [] // mine\n}", .notASource, "line 1"),
    ])
    func `that is none is refused with a word on what it is`(text: String, code: CatalogError.Code, words: String) {
        let error = #expect(throws: CatalogError.self) { try source(text) }
        #expect(error?.code == code)
        #expect(error?.message.hasPrefix("apps.json: ") == true)
        #expect(error?.message.contains(words) == true, "\(error?.message ?? "")")
        #expect(error?.remedy != nil)
    }
}
