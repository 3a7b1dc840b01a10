// Compute SHA-256 and HMAC in JavaScript, because WebCrypto is not available on pages loaded over http.

const FRACTIONS = roots();

/** Return the SHA-256 of bytes as 32 bytes. */
export function sha256(bytes) {
  const state = new Uint32Array(FRACTIONS.start);
  const words = new Uint32Array(64);
  const whole = bytes.length - (bytes.length % 64);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (let at = 0; at < whole; at += 64) compressBlock(state, words, view, at);
  const rest = new Uint8Array(bytes.length - whole < 56 ? 64 : 128);
  rest.set(bytes.subarray(whole));
  rest[bytes.length - whole] = 0x80;
  const tail = new DataView(rest.buffer);
  tail.setUint32(rest.length - 8, Math.floor(bytes.length / 2 ** 29));
  tail.setUint32(rest.length - 4, (bytes.length << 3) >>> 0);
  for (let at = 0; at < rest.length; at += 64) compressBlock(state, words, tail, at);
  const digest = new Uint8Array(32);
  const out = new DataView(digest.buffer);
  state.forEach((word, place) => out.setUint32(4 * place, word));
  return digest;
}

/** Return the HMAC-SHA256 of bytes as 32 bytes. */
export function hmac256(key, bytes) {
  const block = new Uint8Array(64);
  block.set(key.length > 64 ? sha256(key) : key);
  const inner = sha256(concatBytes(block.map((byte) => byte ^ 0x36), bytes));
  return sha256(concatBytes(block.map((byte) => byte ^ 0x5c), inner));
}

/** Return bytes as lower-case hex. */
export function hexOf(bytes) {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Return the bytes of a lower-case hex string, or null if it is malformed. */
export function bytesOfHex(hex) {
  if (typeof hex !== "string" || !/^(?:[0-9a-f]{2})*$/.test(hex)) return null;
  return Uint8Array.from(hex.match(/../g) ?? [], (pair) => parseInt(pair, 16));
}

/** Concatenate byte arrays. */
export function concatBytes(...parts) {
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

function compressBlock(state, words, view, at) {
  for (let i = 0; i < 16; i++) words[i] = view.getUint32(at + 4 * i);
  for (let i = 16; i < 64; i++) {
    const early = words[i - 15];
    const late = words[i - 2];
    const low = rotateRight(early, 7) ^ rotateRight(early, 18) ^ (early >>> 3);
    const high = rotateRight(late, 17) ^ rotateRight(late, 19) ^ (late >>> 10);
    words[i] = (words[i - 16] + low + words[i - 7] + high) | 0;
  }
  let [a, b, c, d, e, f, g, h] = state;
  for (let i = 0; i < 64; i++) {
    const choice = (e & f) ^ (~e & g);
    const first = (h + (rotateRight(e, 6) ^ rotateRight(e, 11) ^ rotateRight(e, 25)) + choice + FRACTIONS.round[i] + words[i]) | 0;
    const most = (a & b) ^ (a & c) ^ (b & c);
    const second = ((rotateRight(a, 2) ^ rotateRight(a, 13) ^ rotateRight(a, 22)) + most) | 0;
    [h, g, f, e, d, c, b, a] = [g, f, e, (d + first) | 0, c, b, a, (first + second) | 0];
  }
  [a, b, c, d, e, f, g, h].forEach((word, place) => {
    state[place] += word;
  });
}

function rotateRight(word, places) {
  return (word >>> places) | (word << (32 - places));
}

/** Return the constants of FIPS 180-4, the fractions of the square and cube roots of the first primes. */
function roots() {
  const primes = [];
  for (let n = 2; primes.length < 64; n++) if (primes.every((prime) => n % prime)) primes.push(n);
  const fraction = (root) => ((root - Math.floor(root)) * 2 ** 32) >>> 0;
  return { start: primes.slice(0, 8).map((n) => fraction(Math.sqrt(n))), round: primes.map((n) => fraction(Math.cbrt(n))) };
}
