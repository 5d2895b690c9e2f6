extension PageFiles {
    /// The files of `Pages`, as the package manager puts them into the program. A test compares the list with the folder.
    static var embedded: [(name: String, bytes: [UInt8])] {
        [
            ("add.js", PackageResources.add_js),
            ("api.js", PackageResources.api_js),
            ("app.js", PackageResources.app_js),
            ("details.js", PackageResources.details_js),
            ("dialogs.css", PackageResources.dialogs_css),
            ("dialogs.js", PackageResources.dialogs_js),
            ("dom.js", PackageResources.dom_js),
            ("events.js", PackageResources.events_js),
            ("icon.svg", PackageResources.icon_svg),
            ("index.html", PackageResources.index_html),
            ("installs.css", PackageResources.installs_css),
            ("installs.js", PackageResources.installs_js),
            ("island.js", PackageResources.island_js),
            ("keys.js", PackageResources.keys_js),
            ("parcels.js", PackageResources.parcels_js),
            ("phone.css", PackageResources.phone_css),
            ("plan.js", PackageResources.plan_js),
            ("row.js", PackageResources.row_js),
            ("store.js", PackageResources.store_js),
            ("style.css", PackageResources.style_css),
            ("words.js", PackageResources.words_js),
        ]
    }
}
