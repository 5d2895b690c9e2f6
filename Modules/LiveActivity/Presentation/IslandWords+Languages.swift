extension IslandWords {
    /// The words that all tables fall back on.
    public static let english = IslandWords(language: "en", englishTexts)

    /// The languages that are built in.
    public static let builtIn: [IslandWords] = [english, german, japanese, arabic]

    /// The words for a language: those that are built in, or English.
    public static func words(for language: String) -> IslandWords {
        builtIn.first { code($0.language) == code(language) } ?? english
    }

    static let englishTexts = [
        "label.waiting": "Waiting", "label.download": "Download", "label.signing": "Signing",
        "label.install": "Install", "label.paused": "Paused", "label.done": "Done", "label.failed": "Failed",
        "label.stopped": "Stopped", "label.working": "Working", "label.tap": "Tap", "label.percent": "{n}%",
        "label.apps.one": "{n} app", "label.apps.other": "{n} apps",
        "sign.done": "✓", "sign.failed": "!", "sign.stopped": "–", "sign.paused": "II", "sign.working": "…",
        "sign.tap": "↻",
        "phrase.waiting": "Waiting", "phrase.downloading": "Downloading", "phrase.signing": "Signing",
        "phrase.installing": "Installing", "phrase.paused": "Paused", "phrase.working": "Working",
        "phrase.installed": "Installed", "phrase.failed": "Failed", "phrase.stopped": "Stopped",
        "phrase.tap": "Tap to update", "phrase.nothing": "Nothing to install", "phrase.app": "App",
        "count.apps.one": "{n} app", "count.apps.other": "{n} apps", "count.more.other": "and {n} more",
        "count.installed.other": "{n} installed", "count.failed.other": "{n} failed",
        "count.stopped.other": "{n} stopped", "count.percent.other": "{n} percent",
        "decimal": ".", "separator": ", ",
    ]

    /// German.
    public static let german = IslandWords(
        language: "de",
        [
            "label.waiting": "Wartet", "label.download": "Lädt", "label.signing": "Signiert",
            "label.install": "Install.", "label.paused": "Pause", "label.done": "Fertig", "label.failed": "Fehler",
            "label.stopped": "Gestoppt", "label.working": "Arbeitet", "label.tap": "Tippen",
            "label.percent": "{n}\u{A0}%", "label.apps.one": "{n} App", "label.apps.other": "{n} Apps",
            "phrase.waiting": "Wartet", "phrase.downloading": "Wird geladen", "phrase.signing": "Wird signiert",
            "phrase.installing": "Wird installiert", "phrase.paused": "Angehalten", "phrase.working": "In Arbeit",
            "phrase.installed": "Installiert", "phrase.failed": "Fehlgeschlagen", "phrase.stopped": "Abgebrochen",
            "phrase.tap": "Zum Aktualisieren tippen", "phrase.nothing": "Nichts zu installieren",
            "phrase.app": "App",
            "count.apps.one": "{n} App", "count.apps.other": "{n} Apps", "count.more.other": "und {n} weitere",
            "count.installed.other": "{n} installiert", "count.failed.other": "{n} fehlgeschlagen",
            "count.stopped.other": "{n} abgebrochen", "count.percent.other": "{n} Prozent",
            "decimal": ",",
        ]
    )

    /// Japanese.
    public static let japanese = IslandWords(
        language: "ja",
        [
            "label.waiting": "待機中", "label.download": "取得中", "label.signing": "署名中", "label.install": "導入中",
            "label.paused": "一時停止", "label.done": "完了", "label.failed": "失敗", "label.stopped": "中止",
            "label.working": "処理中", "label.tap": "タップ", "label.apps.other": "{n}個",
            "phrase.waiting": "待機中", "phrase.downloading": "ダウンロード中", "phrase.signing": "署名中",
            "phrase.installing": "インストール中", "phrase.paused": "一時停止中", "phrase.working": "処理中",
            "phrase.installed": "インストール済み", "phrase.failed": "失敗しました", "phrase.stopped": "中止しました",
            "phrase.tap": "タップして更新", "phrase.nothing": "インストールするものはありません", "phrase.app": "アプリ",
            "count.apps.other": "{n}個のアプリ", "count.more.other": "ほか{n}個", "count.installed.other": "{n}個完了",
            "count.failed.other": "{n}個失敗", "count.stopped.other": "{n}個中止",
            "count.percent.other": "{n}パーセント",
            "separator": "、",
        ]
    )

    /// Arabic, with European digits; a table of one's own may bring `digits`.
    public static let arabic = IslandWords(
        language: "ar",
        [
            "label.waiting": "انتظار", "label.download": "تنزيل", "label.signing": "توقيع", "label.install": "تثبيت",
            "label.paused": "موقوف", "label.done": "تم", "label.failed": "فشل", "label.stopped": "ملغى",
            "label.working": "جارٍ", "label.tap": "اضغط",
            "label.apps.zero": "لا شيء", "label.apps.one": "تطبيق", "label.apps.two": "تطبيقان",
            // The usual plural has a letter too many, so here it is "programs".
            "label.apps.few": "{n} برامج", "label.apps.many": "{n} تطبيق", "label.apps.other": "{n} تطبيق",
            "phrase.waiting": "في الانتظار", "phrase.downloading": "جارٍ التنزيل", "phrase.signing": "جارٍ التوقيع",
            "phrase.installing": "جارٍ التثبيت", "phrase.paused": "متوقف مؤقتًا", "phrase.working": "جارٍ العمل",
            "phrase.installed": "تم التثبيت", "phrase.failed": "فشل", "phrase.stopped": "أُلغي",
            "phrase.tap": "اضغط للتحديث", "phrase.nothing": "لا شيء للتثبيت", "phrase.app": "تطبيق",
            "count.apps.zero": "لا تطبيقات", "count.apps.one": "تطبيق واحد", "count.apps.two": "تطبيقان",
            "count.apps.few": "{n} تطبيقات", "count.apps.many": "{n} تطبيقًا", "count.apps.other": "{n} تطبيق",
            "count.more.zero": "ولا غيرها", "count.more.one": "وتطبيق آخر", "count.more.two": "وتطبيقان آخران",
            "count.more.few": "و{n} تطبيقات أخرى", "count.more.many": "و{n} تطبيقًا آخر",
            "count.more.other": "و{n} تطبيق آخر",
            "count.installed.other": "المثبتة: {n}", "count.failed.other": "الفاشلة: {n}",
            "count.stopped.other": "الملغاة: {n}", "count.percent.other": "{n} بالمئة",
            "decimal": ".", "separator": "، ",
        ]
    )
}
