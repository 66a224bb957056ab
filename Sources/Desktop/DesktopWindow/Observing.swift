import Observation

/// Applies what models contain to widgets: at once, and whenever something changes that `apply` reads. It lasts as long as
/// the models.
@MainActor
func observe(_ apply: @escaping @MainActor () -> Void) {
    withObservationTracking {
        apply()
    } onChange: {
        // Called before the change; afterwards the new values can be read.
        Task { @MainActor in observe(apply) }
    }
}
