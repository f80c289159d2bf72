// URL and URLSearchParams after the WHATWG standard, for addresses that programs take apart and put together.
const specialPorts = { __proto__: null, 'http:': '80', 'https:': '443', 'ws:': '80', 'wss:': '443', 'ftp:': '21', 'file:': '' };
const percentEncode = (text, keep) => {
  let out = '';
  for (const char of wellFormed(text)) out += keep.test(char) ? char : encodeURIComponent(char).replace(/[!'()*~\-_.]/g, (c) => '%' + c.charCodeAt(0).toString(16).toUpperCase());
  return out;
};
const inPath = /[A-Za-z0-9\-._~!$&'()*+,;=:@%/[\]|\\^]/, inQuery = /[A-Za-z0-9\-._~!$&()*+,;=:@%/?[\]{}|\\^`]/, inFragment = /[A-Za-z0-9\-._~!$&'()*+,;=:@%/?[\]{}|\\^#]/, inUser = /[A-Za-z0-9\-._~!$&'()*+,%]/;
const badUrl = (text) => new $TypeError('Invalid URL: ' + slice(text, 0, 200));

// Punycode (RFC 3492), for names outside ASCII.
const punycode = (label) => {
  const points = [...label].map((char) => char.codePointAt(0));
  let out = points.filter((point) => point < 128).map((point) => fromCodePoint(point)).join('');
  let handled = out.length, n = 128, delta = 0, bias = 72;
  const basic = handled;
  if (basic) out += '-';
  while (handled < points.length) {
    const next = min(...points.filter((point) => point >= n));
    delta += (next - n) * (handled + 1);
    n = next;
    for (const point of points) {
      if (point < n) delta++;
      if (point !== n) continue;
      let q = delta;
      for (let k = 36; ; k += 36) {
        const t = k <= bias ? 1 : k >= bias + 26 ? 26 : k - bias;
        if (q < t) { out += 'abcdefghijklmnopqrstuvwxyz0123456789'[q]; break; }
        out += 'abcdefghijklmnopqrstuvwxyz0123456789'[t + ((q - t) % (36 - t))];
        q = floor((q - t) / (36 - t));
      }
      delta = handled === basic ? floor(delta / 700) : delta >> 1;
      delta += floor(delta / (handled + 1));
      let k = 0;
      for (; delta > 455; k += 36) delta = floor(delta / 35);
      bias = k + floor((36 * delta) / (delta + 38));
      delta = 0;
      handled++;
    }
    delta++;
    n++;
  }
  return 'xn--' + out;
};
const ipv4 = (host) => {
  const parts = host.replace(/\.$/, '').split('.');
  if (!/^(?:0x[0-9a-f]*|\d+)$/i.test(parts[parts.length - 1])) return host;
  const numbers = parts.map((part) => (/^0x[0-9a-f]*$/i.test(part) ? parseInt(part, 16) || 0 : /^0[0-7]+$/.test(part) ? parseInt(part, 8) : /^\d+$/.test(part) ? +part : NaN));
  const last = numbers.pop();
  if (numbers.length > 3 || numbers.some((x) => !(x <= 255)) || !(last < 256 ** (4 - numbers.length))) return null;
  let value = last;
  numbers.forEach((x, i) => { value += x * 256 ** (3 - i); });
  return [24, 16, 8, 0].map((shift) => floor(value / 2 ** shift) % 256).join('.');
};
const parseHost = (text, special) => {
  if (text[0] === '[') return /^\[[0-9a-f:.]+\]$/i.test(text) ? lower(text) : null;
  if (!special) return /[\0\t\n\r #/:<>?@[\\\]^|]/.test(text) ? null : percentEncode(text, /[\x21-\x7e]/);
  let host;
  try { host = lower(normalize(decodeURIComponent(text), 'NFKC')); } catch { return null; }
  host = host.split(/[.\u3002]/).map((label) => (nonAscii.test(label) ? punycode(label) : label)).join('.');
  return host === '' || /[\0-\x20"#%/:<>?@[\\\]^`{|}\x7f]/.test(host) ? null : ipv4(host);
};
const cleanPath = (path, special) => {
  const out = [];
  const parts = (special ? path.replace(/\\/g, '/') : path).split('/');
  parts.shift();
  parts.forEach((part, i) => {
    const plain = lower(part).replace(/%2e/g, '.');
    if (plain === '..') { out.pop(); if (i === parts.length - 1) out.push(''); }
    else if (plain === '.') { if (i === parts.length - 1) out.push(''); }
    else out.push(percentEncode(part, inPath));
  });
  return '/' + out.join('/');
};
const parseAuthority = (parts, text) => {
  const at = text.lastIndexOf('@');
  if (at >= 0) {
    const [user, ...password] = text.slice(0, at).split(':');
    parts.username = percentEncode(user, inUser);
    parts.password = percentEncode(password.join(':'), inUser);
  }
  const match = /^(\[[^\]]*\]|[^:]*)(?::(\d*))?$/.exec(text.slice(at + 1));
  const host = match && (match[1] === '' && parts.protocol === 'file:' ? '' : parseHost(match[1], parts.protocol in specialPorts));
  if (host === null || host === undefined || match[2] > 65535) return false;
  parts.hostname = host;
  parts.port = match[2] && +match[2] !== +(specialPorts[parts.protocol] || NaN) ? $String(+match[2]) : '';
  return true;
};
const splitTail = (text) => {
  const hash = text.indexOf('#'), before = hash < 0 ? text : text.slice(0, hash), query = before.indexOf('?');
  return [query < 0 ? before : before.slice(0, query), query < 0 ? null : before.slice(query + 1), hash < 0 ? null : text.slice(hash + 1)];
};
const parseUrl = (input, base) => {
  const text = $String(input).replace(/^[\0-\x20]+|[\0-\x20]+$/g, '').replace(/[\t\n\r]/g, '');
  const scheme = /^([A-Za-z][A-Za-z0-9+.-]*:)/.exec(text);
  const protocol = scheme ? lower(scheme[1]) : base ? base.protocol : null;
  if (protocol === null) return null;
  const special = protocol in specialPorts;
  let rest = scheme ? text.slice(scheme[0].length) : text;
  const [path, query, fragment] = splitTail(rest);
  rest = special ? path.replace(/\\/g, '/') : path;
  const parts = { protocol, username: '', password: '', hostname: '', port: '', pathname: '', opaque: false };
  const relative = !scheme || (special && base && base.protocol === protocol && !rest.startsWith('/'));
  const slashes = special && !relative ? /^\/*/.exec(rest)[0].length : rest.startsWith('//') ? 2 : 0;
  if (slashes >= 2 || (special && !relative)) {
    const body = protocol === 'file:' ? rest.slice(min(slashes, 2)) : rest.slice(slashes), end = body.indexOf('/');
    if (!parseAuthority(parts, end < 0 ? body : body.slice(0, end))) return null;
    if (special && protocol !== 'file:' && parts.hostname === '') return null;
    parts.hasHost = true;
    parts.pathname = end < 0 ? (special ? '/' : '') : cleanPath(body.slice(end), special);
  } else if (relative) {
    if (base.opaque && rest !== '') return null;
    Object.assign(parts, { username: base.username, password: base.password, hostname: base.hostname, port: base.port, opaque: base.opaque, hasHost: base.hasHost });
    parts.pathname = rest === '' ? base.pathname : cleanPath(rest.startsWith('/') ? rest : base.pathname.slice(0, base.pathname.lastIndexOf('/') + 1) + rest, special);
  } else if (rest.startsWith('/')) parts.pathname = cleanPath(rest, special);
  else { parts.opaque = true; parts.pathname = percentEncode(rest, /[\x20-\x7e]/); }
  const inherited = relative && rest === '' && query === null ? base.search : '';
  parts.search = query === null ? inherited : query === '' ? '' : '?' + percentEncode(query, inQuery);
  parts.hash = fragment === null || fragment === '' ? '' : '#' + percentEncode(fragment, inFragment);
  return parts;
};

const formEncode = (text) => percentEncode($String(text), /[A-Za-z0-9*\-._ ]/).replace(/ /g, '+');
const formDecode = (text) => { const spaced = text.replace(/\+/g, ' '); try { return decodeURIComponent(spaced); } catch { return spaced.replace(/(?:%[0-9a-f]{2})+/gi, (run) => { try { return decodeURIComponent(run); } catch { return '\ufffd'; } }); } };
class URLSearchParams {
  #pairs = []; #changed = () => {};
  constructor(init = '') {
    if (typeof init === 'object' && init !== null) {
      if (typeof init[iteratorSymbol] === 'function') for (const [name, value] of init) this.#pairs.push([$String(name), $String(value)]);
      else for (const name of keys(init)) this.#pairs.push([name, $String(init[name])]);
    } else this.#read($String(init));
  }
  #read(text) {
    for (const piece of text.replace(/^\?/, '').split('&')) {
      if (piece === '') continue;
      const at = piece.indexOf('=');
      this.#pairs.push(at < 0 ? [formDecode(piece), ''] : [formDecode(piece.slice(0, at)), formDecode(piece.slice(at + 1))]);
    }
  }
  static observed(text, changed) { const params = new URLSearchParams(text); params.#changed = () => changed(params.toString()); return params; }
  static replace(params, text) { params.#pairs = []; params.#read(text); }
  get size() { return this.#pairs.length; }
  append(name, value) { this.#pairs.push([$String(name), $String(value)]); this.#changed(); }
  delete(name, value) { this.#pairs = this.#pairs.filter((pair) => pair[0] !== $String(name) || (value !== undefined && pair[1] !== $String(value))); this.#changed(); }
  get(name) { const pair = this.#pairs.find((item) => item[0] === $String(name)); return pair ? pair[1] : null; }
  getAll(name) { return this.#pairs.filter((pair) => pair[0] === $String(name)).map((pair) => pair[1]); }
  has(name, value) { return this.#pairs.some((pair) => pair[0] === $String(name) && (value === undefined || pair[1] === $String(value))); }
  set(name, value) {
    const at = this.#pairs.findIndex((pair) => pair[0] === $String(name));
    if (at < 0) { this.append(name, value); return; }
    this.#pairs = this.#pairs.filter((pair, i) => i <= at || pair[0] !== $String(name));
    this.#pairs[at] = [$String(name), $String(value)];
    this.#changed();
  }
  sort() { this.#pairs.sort((a, b) => (a[0] < b[0] ? -1 : a[0] > b[0] ? 1 : 0)); this.#changed(); }
  forEach(callback, self) { for (const [name, value] of this.#pairs) apply(callback, self, [value, name, this]); }
  *entries() { for (const pair of this.#pairs) yield [pair[0], pair[1]]; }
  *keys() { for (const pair of this.#pairs) yield pair[0]; }
  *values() { for (const pair of this.#pairs) yield pair[1]; }
  [Symbol.iterator]() { return this.entries(); }
  toString() { return this.#pairs.map((pair) => formEncode(pair[0]) + '=' + formEncode(pair[1])).join('&'); }
  toJSON() { return this.toString(); }
}
define(URLSearchParams.prototype, tagSymbol, 'URLSearchParams');
const { observed: observedParams, replace: replaceParams } = URLSearchParams;
delete URLSearchParams.observed;
delete URLSearchParams.replace;

class URL {
  #parts; #params;
  constructor(url, base) {
    const from = base === undefined ? null : parseUrl(base, null);
    if (base !== undefined && from === null) throw badUrl($String(base));
    this.#parts = parseUrl(url, from);
    if (this.#parts === null) throw badUrl($String(url));
  }
  static canParse(url, base) { try { new URL(url, base); return true; } catch { return false; } }
  static parse(url, base) { try { return new URL(url, base); } catch { return null; } }
  get href() {
    const p = this.#parts, user = p.username || p.password ? p.username + (p.password ? ':' + p.password : '') + '@' : '';
    return p.protocol + (p.hasHost ? '//' + user + this.host : '') + p.pathname + p.search + p.hash;
  }
  set href(value) { const parts = parseUrl(value, null); if (parts === null) throw badUrl($String(value)); this.#parts = parts; if (this.#params) replaceParams(this.#params, parts.search); }
  get origin() { const p = this.#parts; return p.protocol in specialPorts && p.protocol !== 'file:' ? p.protocol + '//' + this.host : 'null'; }
  get protocol() { return this.#parts.protocol; }
  set protocol(value) {
    const name = lower($String(value)).replace(/:.*$/s, '') + ':', p = this.#parts;
    if (!/^[a-z][a-z0-9+.-]*:$/.test(name) || name in specialPorts !== p.protocol in specialPorts) return;
    p.protocol = name;
    if (p.port === specialPorts[name]) p.port = '';
  }
  get username() { return this.#parts.username; }
  set username(value) { if (this.#parts.hostname) this.#parts.username = percentEncode($String(value), inUser); }
  get password() { return this.#parts.password; }
  set password(value) { if (this.#parts.hostname) this.#parts.password = percentEncode($String(value), inUser); }
  get host() { const p = this.#parts; return p.hostname + (p.port ? ':' + p.port : ''); }
  set host(value) { const copy = { ...this.#parts, username: '', password: '' }; if (!copy.opaque && parseAuthority(copy, $String(value).split(/[/?#]/)[0])) Object.assign(this.#parts, { hostname: copy.hostname, port: /:\d+$/.test($String(value)) ? copy.port : this.#parts.port, hasHost: true }); }
  get hostname() { return this.#parts.hostname; }
  set hostname(value) { const host = parseHost($String(value).split(/[:/?#]/)[0], this.#parts.protocol in specialPorts); if (host && !this.#parts.opaque) { this.#parts.hostname = host; this.#parts.hasHost = true; } }
  get port() { return this.#parts.port; }
  set port(value) { const p = this.#parts, port = /^\d*/.exec($String(value))[0]; if (p.hostname && p.protocol !== 'file:' && port <= 65535) p.port = port === '' || port === specialPorts[p.protocol] ? '' : $String(+port); }
  get pathname() { return this.#parts.pathname; }
  set pathname(value) { const p = this.#parts, text = $String(value).replace(/\?/g, '%3F').replace(/#/g, '%23'); if (!p.opaque) p.pathname = cleanPath(/^[/\\]/.test(text) ? text : '/' + text, p.protocol in specialPorts); }
  get search() { return this.#parts.search; }
  set search(value) { const text = $String(value).replace(/^\?/, '').replace(/#/g, '%23'); this.#parts.search = text && '?' + percentEncode(text, inQuery); if (this.#params) replaceParams(this.#params, text); }
  get searchParams() { return this.#params ||= observedParams(this.#parts.search, (text) => { this.#parts.search = text && '?' + text; }); }
  get hash() { return this.#parts.hash; }
  set hash(value) { const text = $String(value).replace(/^#/, ''); this.#parts.hash = text && '#' + percentEncode(text, inFragment); }
  toString() { return this.href; }
  toJSON() { return this.href; }
}
define(URL.prototype, tagSymbol, 'URL');
for (const name of ['href', 'origin', 'protocol', 'host', 'hostname', 'port', 'pathname', 'search', 'hash']) defineProperty(URL.prototype, name, { __proto__: null, enumerable: true });
global('URL', URL);
global('URLSearchParams', URLSearchParams);
