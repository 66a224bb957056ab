import ControlAPI
import Foundation
import SealedFormats

extension PasscodeVerifier {
    /// - Throws: `ControlError` with `badRequest`.
    init(_ earlier: EarlierVerifier) throws(ControlError) {
        guard let salt = Data(base64Encoded: earlier.salt), let digest = Data(base64Encoded: earlier.digest) else {
            throw ControlError(.badRequest, "The salt and the digest of an earlier verifier have to be Base64.")
        }
        do {
            switch earlier.kind {
            case "sha256": try self.init(olderSHA256: Array(digest), salt: Array(salt))
            case "pbkdf2-sha256": try self.init(olderPBKDF2: Array(digest), salt: Array(salt))
            default:
                throw ControlError(
                    .badRequest, "The kind of an earlier verifier has to be \"sha256\" or \"pbkdf2-sha256\".")
            }
        } catch let error as ControlError {
            throw error
        } catch {
            throw ControlError(
                .badRequest,
                "The digest has \(digest.count) bytes and the salt \(salt.count). A digest has 32; a salt has 32, of sha256 8 to 64."
            )
        }
    }
}
