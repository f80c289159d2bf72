// Random bytes from ChaCha20 with a key of the worker's: Math.random is not good enough for identifiers.
const chacha = { __proto__: null, state: new Uint32Array(16), block: new Uint8Array(64), used: 64 };
const seedRandom = (bytes) => {
  const { state } = chacha;
  state[0] = 0x61707865; state[1] = 0x3320646e; state[2] = 0x79622d32; state[3] = 0x6b206574;
  for (let i = 0; i < 8; i++) state[4 + i] = bytes[4 * i] | (bytes[4 * i + 1] << 8) | (bytes[4 * i + 2] << 16) | (bytes[4 * i + 3] << 24);
};
const quarter = (x, a, b, c, d) => {
  x[a] += x[b]; x[d] ^= x[a]; x[d] = (x[d] << 16) | (x[d] >>> 16);
  x[c] += x[d]; x[b] ^= x[c]; x[b] = (x[b] << 12) | (x[b] >>> 20);
  x[a] += x[b]; x[d] ^= x[a]; x[d] = (x[d] << 8) | (x[d] >>> 24);
  x[c] += x[d]; x[b] ^= x[c]; x[b] = (x[b] << 7) | (x[b] >>> 25);
};
const randomByte = () => {
  if (chacha.used === 64) {
    const { state, block } = chacha, work = new $Uint32Array(state);
    for (let round = 0; round < 10; round++) {
      quarter(work, 0, 4, 8, 12); quarter(work, 1, 5, 9, 13); quarter(work, 2, 6, 10, 14); quarter(work, 3, 7, 11, 15);
      quarter(work, 0, 5, 10, 15); quarter(work, 1, 6, 11, 12); quarter(work, 2, 7, 8, 13); quarter(work, 3, 4, 9, 14);
    }
    for (let i = 0; i < 16; i++) {
      const word = (work[i] + state[i]) >>> 0;
      for (let j = 0; j < 4; j++) block[4 * i + j] = word >>> (8 * j);
    }
    if (++state[12] === 0) state[13]++;
    chacha.used = 0;
  }
  return chacha.block[chacha.used++];
};
const hexPair = (byte) => (byte < 16 ? '0' : '') + numberText(byte, 16);
const integerArrays = /^(?:Big)?(?:Int|Uint)(?:8|16|32|64)(?:Clamped)?Array$/;
class Crypto {
  getRandomValues(array) {
    const tag = typeof array === 'object' && array !== null ? typedTag(array) : undefined;
    if (tag === undefined || exec(integerArrays, tag) === null) throw new $TypeError('crypto.getRandomValues takes an integer typed array.');
    if (array.byteLength > 65536) throw new $RangeError('crypto.getRandomValues fills at most 65536 bytes at once.');
    const bytes = new $Uint8Array(array.buffer, array.byteOffset, array.byteLength);
    for (let i = 0; i < bytes.length; i++) bytes[i] = randomByte();
    return array;
  }
  randomUUID() {
    let text = '';
    for (let i = 0; i < 16; i++) {
      let byte = randomByte();
      if (i === 6) byte = (byte & 0x0f) | 0x40;
      if (i === 8) byte = (byte & 0x3f) | 0x80;
      text += (i === 4 || i === 6 || i === 8 || i === 10 ? '-' : '') + hexPair(byte);
    }
    return text;
  }
}
define(Crypto.prototype, tagSymbol, 'Crypto');
global('crypto', new Crypto());
