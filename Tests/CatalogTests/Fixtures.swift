import FerryPropertyList
import Foundation
import TestKit

@testable import FerryCatalog

/// Reads a source that a test wrote.
func source(
    _ json: String,
    url: String? = "https://example.com/lists/apps.json",
    limits: SourceLimits = SourceLimits()
) throws(CatalogError) -> AppSource {
    try AppSource(json: Array(json.utf8), place: "apps.json", url: url, limits: limits)
}

/// A source of one app whose one version has these fields besides.
func sourceOfOne(_ fields: String) throws(CatalogError) -> AppSource {
    try source(
        """
        {"apps": [{"name": "Harbour", "bundleIdentifier": "com.example.harbour", "versions": [
            {"version": "1.2", "downloadURL": "https://example.com/Harbour.ipa", \(fields)}
        ]}]}
        """
    )
}

/// An instant as Foundation reads it.
func instant(_ text: String) throws -> PropertyListDate {
    PropertyListDate(secondsSince1970: try Date(text, strategy: .iso8601).timeIntervalSince1970)
}
