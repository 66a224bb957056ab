import SealedFormats
import TestSupport
import Testing

/// Run one at a time: the largest vector needs 1 GiB.
struct KeyDerivationTests {
    struct Published: Decodable {
        struct Vector: Decodable {
            let passcode: String
            let salt: String
            let rounds: Int
            let blockSize: Int?
            let parallelism: Int?
            let output: String
        }
        let source: String
        let vectors: [Vector]
    }

    @Test func scryptReturnsThePublishedOutputs() throws {
        let published = try Vectors.load("scrypt.json", as: Published.self)
        #expect(published.vectors.count == 4)
        for vector in published.vectors {
            let derived = try KeyDerivation.scrypt(
                SecretBytes(utf8: vector.passcode), salt: bytes(hex: vector.salt), rounds: vector.rounds,
                blockSize: try #require(vector.blockSize), parallelism: try #require(vector.parallelism), count: 64)
            #expect(hex(derived) == vector.output)
        }
    }

    @Test func pbkdf2ReturnsThePublishedOutputs() throws {
        let published = try Vectors.load("pbkdf2_sha256.json", as: Published.self)
        #expect(published.vectors.count == 2)
        for vector in published.vectors {
            let derived = try KeyDerivation.pbkdf2(
                SecretBytes(utf8: vector.passcode), salt: bytes(hex: vector.salt), rounds: vector.rounds, count: 64)
            #expect(hex(derived) == vector.output)
        }
    }

    /// RFC 5869, A.1 and A.3, their first 32 bytes; FIPS 180-4's example "abc", split into passcode and salt.
    @Test func hkdfAndSHA256ReturnThePublishedOutputs() {
        let material = secret(hex: String(repeating: "0b", count: 22))
        #expect(
            hex(KeyDerivation.hkdf(material, salt: nil, info: ""))
                == "8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d")
        #expect(
            hex(KeyDerivation.sha256(SecretBytes(utf8: "a"), salt: Array("bc".utf8)))
                == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
    }

    @Test func parametersTheLibraryRefusesAreAnErrorWithItsCause() {
        #expect {
            try KeyDerivation.scrypt(
                SecretBytes(utf8: "x"), salt: [1], rounds: 3, blockSize: 8, parallelism: 1, count: 32)
        } throws: { error in
            (error as? SealedFormatsError)?.code == .derivationFailed && (error as? SealedFormatsError)?.cause != nil
        }
    }
}
