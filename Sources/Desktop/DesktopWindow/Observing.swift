import Observation

/// Applies what models contain to widgets: at once, and whenever something changes that `apply` reads. It lasts as
/// long as its owner, because the models outlive most views. `apply` gets the owner, so that it needn't keep it.
@MainActor
func observe<Owner: AnyObject & Sendable>(_ owner: Owner, _ apply: @escaping @MainActor (Owner) -> Void) {
    withObservationTracking {
        apply(owner)
    } onChange: { [weak owner] in
        // Called before the change; afterwards the new values can be read.
        Task { @MainActor [weak owner] in if let owner { observe(owner, apply) } }
    }
}
