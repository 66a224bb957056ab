// P-256 keys in WebCrypto, which imports a private key only together with its public key. A key ring holds only the
// private scalar, so its point is computed here, with the curve of FIPS 186-5 in Jacobian coordinates.
import { base64url, concat, hex, unbase64url } from "./bytes.js";
import { FormatError } from "./errors.js";

const p = 2n ** 256n - 2n ** 224n + 2n ** 192n + 2n ** 96n - 1n;
const order = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n;
const b = 0x5ac635d8aa3a93e7b3ebbd55769886bc651d06b0cc53b0f63bce3c3e27d2604bn;
/** @type {Point} */
const generator = [
    0x6b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296n,
    0x4fe342e2fe1a7f9b8ee7eb4a7c0f9e162bce33576b315ececbb6406837bf51f5n, 1n];

/**
 * X, Y, Z; infinity has Z = 0.
 * @typedef {[bigint, bigint, bigint]} Point
 */

/** @param {bigint} value */
const mod = (value) => ((value % p) + p) % p;

/** @param {Point} point @returns {Point} */
function doubled([x, y, z]) {
    const delta = mod(z * z);
    const gamma = mod(y * y);
    const beta = mod(x * gamma);
    const alpha = mod(3n * (x - delta) * (x + delta));
    const x3 = mod(alpha * alpha - 8n * beta);
    return [x3, mod(alpha * (4n * beta - x3) - 8n * gamma * gamma), mod((y + z) ** 2n - gamma - delta)];
}

/**
 * Adds two different points.
 * @param {Point} one
 * @param {Point} other
 * @returns {Point}
 */
function sum(one, other) {
    if (one[2] === 0n) return other;
    if (other[2] === 0n) return one;
    const [zz1, zz2] = [mod(one[2] ** 2n), mod(other[2] ** 2n)];
    const u1 = mod(one[0] * zz2);
    const s1 = mod(one[1] * other[2] * zz2);
    const h = mod(other[0] * zz1 - u1);
    const r = mod(other[1] * one[2] * zz1 - s1);
    const hh = mod(h * h);
    const v = mod(u1 * hh);
    const x = mod(r * r - h * hh - 2n * v);
    return [x, mod(r * (v - x) - s1 * h * hh), mod(h * one[2] * other[2])];
}

/** @param {bigint} value @param {bigint} exponent */
function power(value, exponent) {
    let result = 1n;
    for (let base = value, left = exponent; left > 0n; left >>= 1n) {
        if (left & 1n) result = mod(result * base);
        base = mod(base * base);
    }
    return result;
}

/** @param {bigint} value */
const bytesOf = (value) =>
    Uint8Array.from(value.toString(16).padStart(64, "0").match(/../g) ?? [], (pair) => parseInt(pair, 16));

/**
 * A private key of 48 bytes from a key derivation, as FIPS 186-5, A.2.1: the extra bits leave no bias.
 * @param {Uint8Array} bytes
 */
export const scalarOf = (bytes) => bytesOf((BigInt(`0x${hex(bytes)}`) % (order - 1n)) + 1n);

/**
 * 65 bytes, X9.63 uncompressed. Throws FormatError `malformed` for an invalid scalar.
 * @param {Uint8Array} scalar 32 bytes
 */
export function publicKeyOf(scalar) {
    const value = scalar.length === 32 ? BigInt(`0x${hex(scalar)}`) : 0n;
    if (value <= 0n || value >= order) {
        throw new FormatError("malformed", "This is not a valid P-256 private key.");
    }
    // Montgomery's ladder: the same steps for every scalar.
    /** @type {[Point, Point]} */
    let pair = [[1n, 1n, 0n], generator];
    for (let bit = 255n; bit >= 0n; bit -= 1n) {
        const added = sum(pair[0], pair[1]);
        pair = (value >> bit) & 1n ? [added, doubled(pair[1])] : [doubled(pair[0]), added];
    }
    const inverse = power(pair[0][2], p - 2n);
    const square = mod(inverse * inverse);
    return concat([4], bytesOf(mod(pair[0][0] * square)), bytesOf(mod(pair[0][1] * square * inverse)));
}

/**
 * WebKitGTK imports any pair of coordinates, and an agreement on another curve would reveal parts of the private key
 * (NIST SP 800-56A, 5.6.2.3.4).
 * @param {Uint8Array} point 65 bytes
 */
function isOnCurve(point) {
    const [x, y] = [BigInt(`0x${hex(point.slice(1, 33))}`), BigInt(`0x${hex(point.slice(33))}`)];
    return x < p && y < p && mod(y * y) === mod(x ** 3n - 3n * x + b);
}

/** @typedef {"ECDH" | "ECDSA"} Algorithm */

/** @param {Algorithm} name */
const algorithm = (name) => ({ name, namedCurve: "P-256" });

/**
 * Throws FormatError `malformed` unless these are an uncompressed point of the curve.
 * @param {Uint8Array} point
 * @param {Algorithm} name
 */
export async function importPublic(point, name) {
    const malformed = new FormatError("malformed", "This is not a valid P-256 public key.");
    if (point.length !== 65 || point[0] !== 4 || !isOnCurve(point)) throw malformed;
    try {
        return await crypto.subtle.importKey("raw", point, algorithm(name), true, name === "ECDSA" ? ["verify"] : []);
    } catch {
        throw malformed;
    }
}

/**
 * Imports a key that no script can read.
 * @param {Uint8Array} scalar
 * @param {Uint8Array} point its public key
 * @param {Algorithm} name
 */
export function importPrivate(scalar, point, name) {
    const jwk = {
        kty: "EC", crv: "P-256", d: base64url(scalar), x: base64url(point.slice(1, 33)), y: base64url(point.slice(33)),
    };
    return crypto.subtle.importKey("jwk", jwk, algorithm(name), false, name === "ECDSA" ? ["sign"] : ["deriveBits"]);
}

/**
 * A new pair: the scalar, only for the key ring, and the public key.
 * @returns {Promise<{ scalar: Uint8Array, point: Uint8Array }>}
 */
export async function freshPair() {
    const pair = await crypto.subtle.generateKey(algorithm("ECDH"), true, ["deriveBits"]);
    const jwk = await crypto.subtle.exportKey("jwk", /** @type {CryptoKey} */ (pair.privateKey));
    const point = new Uint8Array(await crypto.subtle.exportKey("raw", /** @type {CryptoKey} */ (pair.publicKey)));
    const scalar = unbase64url(jwk.d ?? "");
    if (scalar?.length !== 32) throw new FormatError("malformed", "This browser created an invalid key.");
    return { scalar, point };
}

/**
 * The shared point's x.
 * @param {CryptoKey} own
 * @param {CryptoKey} theirs
 */
export async function agree(own, theirs) {
    return new Uint8Array(await crypto.subtle.deriveBits({ name: "ECDH", public: theirs }, own, 256));
}
