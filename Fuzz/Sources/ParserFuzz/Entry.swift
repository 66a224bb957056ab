import Glibc

/// Chosen by APPLOCKER_FUZZ_PARSER.
private let parser: FuzzedParser = {
    let name = getenv("APPLOCKER_FUZZ_PARSER").map { String(cString: $0) } ?? ""
    guard let parser = FuzzedParser(rawValue: name) else {
        fatalError("APPLOCKER_FUZZ_PARSER names no parser: \(name)")
    }
    return parser
}()

/// What libFuzzer calls with each input.
@_cdecl("LLVMFuzzerTestOneInput")
public func runOneInput(_ bytes: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    parser.run(Array(UnsafeBufferPointer(start: bytes, count: count)))
    return 0
}
