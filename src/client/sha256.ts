/**
 * SHA-256 (FIPS 180-4). Browsers have `crypto.subtle` only on pages from HTTPS or the same machine, and a page from a gateway in the
 * local network is neither.
 */
export function sha256(message: Uint8Array): Uint8Array {
  const blocks = Math.ceil((message.length + 9) / 64)
  const padded = new Uint8Array(64 * blocks)
  padded.set(message)
  padded[message.length] = 0x80
  const view = new DataView(padded.buffer)
  view.setBigUint64(padded.length - 8, BigInt(8 * message.length))
  const state = Uint32Array.of(
    ...[0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a],
    ...[0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19],
  )
  for (let at = 0; at < padded.length; at += 64) addBlock(state, view, at)
  const hash = new Uint8Array(32)
  for (const [i, word] of state.entries()) new DataView(hash.buffer).setUint32(4 * i, word)
  return hash
}

/** Updates the state by the 64 bytes at a position, as in section 6.2.2; all sums are modulo 2³². */
function addBlock(state: Uint32Array, view: DataView, at: number): void {
  const schedule = new Uint32Array(64)
  const word = (i: number) => schedule[i] ?? 0
  for (let i = 0; i < 64; i++) {
    if (i < 16) {
      schedule[i] = view.getUint32(at + 4 * i)
      continue
    }
    const [x, y] = [word(i - 15), word(i - 2)]
    const sigma0 = rotated(x, 7) ^ rotated(x, 18) ^ (x >>> 3)
    const sigma1 = rotated(y, 17) ^ rotated(y, 19) ^ (y >>> 10)
    schedule[i] = sigma1 + word(i - 7) + sigma0 + word(i - 16)
  }
  let [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0] = state
  for (const [i, constant] of constants.entries()) {
    const sum1 = rotated(e, 6) ^ rotated(e, 11) ^ rotated(e, 25)
    const first = (h + sum1 + ((e & f) ^ (~e & g)) + constant + word(i)) | 0
    const sum0 = rotated(a, 2) ^ rotated(a, 13) ^ rotated(a, 22)
    const second = (sum0 + ((a & b) ^ (a & c) ^ (b & c))) | 0
    h = g
    g = f
    f = e
    e = (d + first) | 0
    d = c
    c = b
    b = a
    a = (first + second) | 0
  }
  for (const [i, value] of [a, b, c, d, e, f, g, h].entries()) {
    state[i] = (state[i] ?? 0) + value
  }
}

function rotated(word: number, bits: number): number {
  return (word >>> bits) | (word << (32 - bits))
}

/** The constants of section 4.2.2: the first 32 bits of the fractional parts of the cube roots of the first 64 primes. */
const constants = Uint32Array.of(
  ...[
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
  ],
  ...[
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
  ],
  ...[
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
  ],
  ...[
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
  ],
  ...[
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
  ],
  ...[
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
  ],
  ...[
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
  ],
  ...[
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
  ],
)
