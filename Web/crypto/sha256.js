// SHA-256 (FIPS 180-4) of content that is larger than memory: WebCrypto digests only what is there as a whole.

/** The first 32 bits of the fractional parts of the roots of the first primes: square roots, then cube roots. */
const [start, constants] = (() => {
    /** @type {number[]} */
    const primes = [];
    for (let number = 2; primes.length < 64; number += 1) {
        if (primes.every((prime) => number % prime !== 0)) primes.push(number);
    }
    /** @param {number} root */
    const fraction = (root) => ((root % 1) * 2 ** 32) | 0;
    return [Int32Array.from(primes.slice(0, 8), (prime) => fraction(Math.sqrt(prime))),
        Int32Array.from(primes, (prime) => fraction(Math.cbrt(prime)))];
})();
const blockLength = 64;

/**
 * What follows a message of this many bytes: section 5.1.1.
 * @param {number} length
 */
export function padding(length) {
    const end = new Uint8Array((length % blockLength < 56 ? 64 : 128) - (length % blockLength));
    end[0] = 0x80;
    const view = new DataView(end.buffer);
    view.setUint32(end.length - 8, Math.floor(length / 2 ** 29));
    view.setUint32(end.length - 4, (length * 8) >>> 0);
    return end;
}

export class SHA256 {
    #state = start.slice();
    #words = new Int32Array(64);
    #rest = new Uint8Array(blockLength);
    #length = 0;

    /** @param {Uint8Array} bytes */
    update(bytes) {
        let at = 0;
        const waiting = this.#length % blockLength;
        this.#length += bytes.length;
        if (waiting > 0) {
            at = Math.min(blockLength - waiting, bytes.length);
            this.#rest.set(bytes.subarray(0, at), waiting);
            if (waiting + at < blockLength) return this;
            this.#block(this.#rest, 0);
        }
        for (; at + blockLength <= bytes.length; at += blockLength) this.#block(bytes, at);
        this.#rest.set(bytes.subarray(at));
        return this;
    }

    /** Its 32 bytes; call it last. */
    digest() {
        this.update(padding(this.#length));
        const digest = new DataView(new ArrayBuffer(32));
        this.#state.forEach((word, index) => digest.setInt32(index * 4, word));
        return new Uint8Array(digest.buffer);
    }

    /** @param {Uint8Array} bytes @param {number} at */
    #block(bytes, at) {
        const words = this.#words;
        for (let index = 0, from = at; index < 16; index += 1, from += 4) {
            words[index] = (bytes[from] << 24) | (bytes[from + 1] << 16) | (bytes[from + 2] << 8) | bytes[from + 3];
        }
        for (let index = 16; index < 64; index += 1) {
            const w15 = words[index - 15];
            const w2 = words[index - 2];
            const s0 = ((w15 >>> 7) | (w15 << 25)) ^ ((w15 >>> 18) | (w15 << 14)) ^ (w15 >>> 3);
            const s1 = ((w2 >>> 17) | (w2 << 15)) ^ ((w2 >>> 19) | (w2 << 13)) ^ (w2 >>> 10);
            words[index] = words[index - 16] + s0 + words[index - 7] + s1;
        }
        const state = this.#state;
        let a = state[0];
        let b = state[1];
        let c = state[2];
        let d = state[3];
        let e = state[4];
        let f = state[5];
        let g = state[6];
        let h = state[7];
        for (let index = 0; index < 64; index += 1) {
            const s1 = ((e >>> 6) | (e << 26)) ^ ((e >>> 11) | (e << 21)) ^ ((e >>> 25) | (e << 7));
            const t1 = (h + s1 + ((e & f) ^ (~e & g)) + constants[index] + words[index]) | 0;
            const s0 = ((a >>> 2) | (a << 30)) ^ ((a >>> 13) | (a << 19)) ^ ((a >>> 22) | (a << 10));
            const t2 = (s0 + ((a & b) ^ (a & c) ^ (b & c))) | 0;
            h = g;
            g = f;
            f = e;
            e = (d + t1) | 0;
            d = c;
            c = b;
            b = a;
            a = (t1 + t2) | 0;
        }
        state[0] += a;
        state[1] += b;
        state[2] += c;
        state[3] += d;
        state[4] += e;
        state[5] += f;
        state[6] += g;
        state[7] += h;
    }
}
