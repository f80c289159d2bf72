// Text and bytes: UTF-8 both ways, and base64 as browsers have it.
class TextEncoder {
  get encoding() { return 'utf-8'; }
  encode(input = '') {
    const text = wellFormed($String(input)), bytes = new $Uint8Array(text.length * 3);
    return bytes.slice(0, writeUtf8(text, bytes).written);
  }
  encodeInto(input, target) { return writeUtf8(wellFormed($String(input)), target); }
}
const writeUtf8 = (text, target) => {
  let written = 0, read = 0;
  while (read < text.length) {
    const code = codePoint(text, read), size = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    if (written + size > target.length) break;
    if (size === 1) target[written++] = code;
    else {
      target[written++] = (size === 2 ? 0xc0 : size === 3 ? 0xe0 : 0xf0) | (code >> (6 * (size - 1)));
      for (let shift = 6 * (size - 2); shift >= 0; shift -= 6) target[written++] = 0x80 | ((code >> shift) & 0x3f);
    }
    read += size === 4 ? 2 : 1;
  }
  return { read, written };
};
const bytesOf = (input) => {
  if (input === undefined) return new $Uint8Array(0);
  if (input instanceof $ArrayBuffer) return new $Uint8Array(input);
  if (input && input.buffer instanceof $ArrayBuffer) return new $Uint8Array(input.buffer, input.byteOffset, input.byteLength);
  throw new $TypeError('TextDecoder.decode takes an ArrayBuffer or a typed array.');
};
class TextDecoder {
  #fatal; #ignoreBOM; #rest = [];
  constructor(label = 'utf-8', options = {}) {
    const name = lower($String(label)).trim();
    if (name !== 'utf-8' && name !== 'utf8' && name !== 'unicode-1-1-utf-8') throw new $RangeError('Only UTF-8 can be decoded, not ' + slice(name, 0, 40) + '.');
    this.#fatal = !!options.fatal;
    this.#ignoreBOM = !!options.ignoreBOM;
  }
  get encoding() { return 'utf-8'; }
  get fatal() { return this.#fatal; }
  get ignoreBOM() { return this.#ignoreBOM; }
  decode(input, options = {}) {
    let bytes = bytesOf(input);
    if (this.#rest.length) { const whole = new $Uint8Array(this.#rest.length + bytes.length); whole.set(this.#rest); whole.set(bytes, this.#rest.length); bytes = whole; this.#rest = []; }
    let text = '';
    for (let i = 0; i < bytes.length;) {
      const first = bytes[i];
      if (first < 0x80) { text += fromCharCode(first); i++; continue; }
      const size = first >= 0xc2 && first <= 0xdf ? 2 : first >= 0xe0 && first <= 0xef ? 3 : first >= 0xf0 && first <= 0xf4 ? 4 : 0;
      let code = size === 2 ? first & 0x1f : size === 3 ? first & 0x0f : first & 0x07, n = 1;
      for (; n < size && i + n < bytes.length; n++) {
        const byte = bytes[i + n];
        const low = n > 1 ? 0x80 : first === 0xe0 ? 0xa0 : first === 0xf0 ? 0x90 : 0x80, high = n > 1 ? 0xbf : first === 0xed ? 0x9f : first === 0xf4 ? 0x8f : 0xbf;
        if (byte < low || byte > high) break;
        code = (code << 6) | (byte & 0x3f);
      }
      if (size > 0 && n === size) text += fromCodePoint(code);
      else if (options.stream && size > 0 && i + n === bytes.length) { this.#rest = [...bytes.slice(i)]; break; }
      else { if (this.#fatal) throw new $TypeError('The bytes are not valid UTF-8.'); text += '\ufffd'; }
      i += n;
    }
    return !this.#ignoreBOM && charCode(text, 0) === 0xfeff ? slice(text, 1) : text;
  }
}
global('TextEncoder', TextEncoder);
global('TextDecoder', TextDecoder);

const base64Digits = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
global('btoa', function btoa(input) {
  const text = $String(input);
  let out = '';
  for (let i = 0; i < text.length; i += 3) {
    const left = text.length - i, a = charCode(text, i), b = left > 1 ? charCode(text, i + 1) : 0, c = left > 2 ? charCode(text, i + 2) : 0;
    if (a > 255 || b > 255 || c > 255) throw new $RangeError('btoa takes characters up to U+00FF only: encode text with TextEncoder first.');
    out += base64Digits[a >> 2] + base64Digits[((a & 3) << 4) | (b >> 4)] + (left > 1 ? base64Digits[((b & 15) << 2) | (c >> 6)] : '=') + (left > 2 ? base64Digits[c & 63] : '=');
  }
  return out;
});
global('atob', function atob(input) {
  let text = $String(input).replace(/[\t\n\f\r ]/g, '');
  if (text.length % 4 === 0) text = text.replace(/={1,2}$/, '');
  if (text.length % 4 === 1 || !/^[A-Za-z0-9+/]*$/.test(text)) throw new $TypeError('The text is not valid base64.');
  let out = '', bits = 0, held = 0;
  for (let i = 0; i < text.length; i++) {
    bits = ((bits << 6) | indexOf(base64Digits, text[i])) & 0xffff;
    held += 6;
    if (held >= 8) { held -= 8; out += fromCharCode((bits >> held) & 0xff); }
  }
  return out;
});
