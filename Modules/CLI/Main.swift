@main enum Main {
    static func main() async { await Program.ferry.runAsProcess() }
}
