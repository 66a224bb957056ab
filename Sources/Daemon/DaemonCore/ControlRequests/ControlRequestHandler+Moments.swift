import ControlAPI

// Requests about moments and their content, of this computer's own vault or of one that is shared.
extension ControlRequestHandler {
    func addMomentRequests(to table: inout RequestTable) {
        let (own, shared) = (sealed.own, sealed.shared)
        /// - Parameter isChange: of the vault.
        @Sendable func named(_ request: ControlRequest, isChange: Bool = false) async throws -> MomentVault {
            guard let reference = request.query[ControlRoute.sharedVault] else { return own }
            return try await shared.open(reference, isChange: isChange, for: request.peer)
        }
        table.answerBytes(\.readBlob) { request in
            let query = try request.query
            return try await named(request.untyped).contents.read(
                request.name, offset: query.offset, length: query.length, peer: request.peer)
        }
        table.perform(\.putBlob) { request in
            try await named(request.untyped, isChange: true).contents.put(
                request.name, offset: request.query.offset, bytes: request.untyped.body, peer: request.peer)
        }
        table.perform(\.removeBlob) {
            try await named($0.untyped, isChange: true).contents.remove($0.name, peer: $0.peer)
        }

        table.answer(\.listMoments) { try await named($0.untyped).moments.list($0.query, peer: $0.peer) }
        table.answer(\.addMoment) { try await named($0.untyped, isChange: true).moments.add($0.body, peer: $0.peer) }
        table.answer(\.readMoment) { try await named($0.untyped).moments.read($0.name, peer: $0.peer) }
        table.answer(\.changeMoment) {
            try await named($0.untyped, isChange: true).moments.change($0.name, $0.body, peer: $0.peer)
        }
        table.answer(\.removeMoment) {
            try await named($0.untyped, isChange: true).moments.remove($0.name, peer: $0.peer)
        }
        table.answer(\.knownPhotos) { try await named($0.untyped).moments.known($0.body, peer: $0.peer) }
        table.answer(\.readPhoto) { try await named($0.untyped).moments.photo($0.name, peer: $0.peer) }

        table.answer(\.listVaults) { try await shared.list(peer: $0.peer) }
        table.answer(\.joinVault) { try await shared.join($0.body, peer: $0.peer) }
        table.answer(\.readVault) { try await shared.read($0.name, peer: $0.peer) }
        table.perform(\.leaveVault) { try await shared.leave($0.name, forgets: $0.query.forget, peer: $0.peer) }
    }
}
