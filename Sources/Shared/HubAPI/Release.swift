/// Which AppLocker this is.
public enum Release {
    /// As Semantic Versioning 2.0.0 writes it.
    public static let version = "0.1.0"
}
