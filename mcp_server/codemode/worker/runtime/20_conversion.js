// Values to JSON text (contract C10). Plain data goes through the engine's own serializer, which is several times faster.
// A rough size is summed up on the way, so that what is far too large is refused before its text exists.
let measured = 0, allowed = 0;
const tooLarge = { __proto__: null };
const measure = (size) => { if ((measured += size) > allowed) throw tooLarge; };
// The members are looked at in place: a call for each would take longer than the serializer itself.
const isPlain = (value, depth) => {
  if (typeof value !== 'object' || value === null) {
    if (typeof value === 'string') measure(value.length);
    return typeof value !== 'bigint' && typeof value !== 'function' && typeof value !== 'symbol';
  }
  if (depth > limits.depth) return false;
  let size = 0;
  if (isArray(value)) {
    const length = value.length;
    measure(length);
    for (let i = 0; i < length; i++) {
      const item = value[i];
      if (typeof item === 'string') size += item.length;
      else if (typeof item === 'object') { if (item !== null && !isPlain(item, depth + 1)) return false; }
      else if (typeof item === 'bigint' || typeof item === 'function' || typeof item === 'symbol') return false;
    }
  } else {
    const prototype = getPrototypeOf(value);
    if (prototype !== ObjectPrototype && prototype !== null) return false;
    for (const key in value) {
      const item = value[key];
      if (typeof item === 'string') size += item.length;
      else if (typeof item === 'object') { if (item !== null && !isPlain(item, depth + 1)) return false; }
      else if (typeof item === 'bigint' || typeof item === 'function' || typeof item === 'symbol') return false;
    }
  }
  measure(size);
  return true;
};

const identifierPattern = /^[\p{ID_Start}$_][\p{ID_Continue}$]*$/u;
const pathText = (path) => {
  let text = '', count = 0;
  for (let at = path; at !== null; at = at.parent) {
    if (++count > 20) { text = '…' + text; break; }
    if (at.parent === null) text = at.key + text;
    else if (typeof at.key === 'number') text = '[' + at.key + ']' + text;
    else text = (exec(identifierPattern, at.key) ? '.' + at.key : '[' + stringify(slice(at.key, 0, 60)) + ']') + text;
  }
  return text;
};
const step = (parent, key, value) => ({ __proto__: null, parent, key, value });
const refuse = (path, what, advice) => { throw new $TypeError('The value at ' + pathText(path) + ' is ' + what + ', which has no JSON form. ' + advice); };

const errorParts = (error) => {
  let name = 'Error', message = '';
  try { name = safeText(error.name); } catch { name = '[unreadable]'; }
  try { message = safeText(error.message); } catch { message = '[unreadable]'; }
  return { __proto__: null, name, message };
};

const typedItems = (value) => {
  const items = list();
  const length = typedLength(value);
  for (let i = 0; i < length; i++) items[i] = value[i];
  return items;
};

const mapParts = (map) => {
  const names = list(), values = list();
  let n = 0, texts = true, numbers = true;
  mapEach(map, (value, key) => {
    if (typeof key !== 'string') texts = false;
    if (typeof key !== 'number') numbers = false;
    names[n] = key; values[n++] = value;
  });
  if (texts || numbers) {
    const object = create(null);
    for (let i = 0; i < n; i++) object[names[i]] = values[i];
    return object;
  }
  const entries = list();
  for (let i = 0; i < n; i++) { const entry = list(); entry[0] = names[i]; entry[1] = values[i]; entries[i] = entry; }
  return entries;
};

const drained = (iterator) => {
  const items = list();
  let n = 0;
  for (let next = iterator.next(); !next.done; next = iterator.next()) { measure(1); items[n++] = next.value; }
  return items;
};

// Returns what stands for an object in JSON: the object itself, a plain copy, or a primitive value.
const represent = (value, key) => {
  if (isArray(value)) return value;
  if (isError(value)) return errorParts(value);
  if (value instanceof $Map) return mapParts(value);
  if (value instanceof $Set) { const items = list(); let n = 0; setEach(value, (item) => { items[n++] = item; }); return items; }
  if (value instanceof $Date) return getTime(value) === getTime(value) ? toISO(value) : null;
  if (typedTag(value) !== undefined) return typedItems(value);
  if (value instanceof $ArrayBuffer) return typedItems(new $Uint8Array(value));
  if (value instanceof $RegExp) return regexText(value);
  if (value instanceof $Number || value instanceof $String || value instanceof $Boolean || value instanceof $BigInt || value instanceof $Symbol) return value.valueOf();
  if (value instanceof $Iterator) return drained(value);
  const toJSON = value.toJSON;
  return typeof toJSON === 'function' ? apply(toJSON, value, [key]) : value;
};

// The exact writer: names the path of what cannot be converted, and collects promises that must be awaited first.
const write = (value, path, depth, promises) => {
  switch (typeof value) {
    case 'string': measure(value.length); return stringify(value);
    case 'number': return value - value === 0 ? stringify(value) : 'null';
    case 'boolean': return value ? 'true' : 'false';
    case 'bigint': return '"' + bigText(value) + '"';
    case 'undefined': return undefined;
    case 'function': return refuse(path, 'a function', 'Call it, or leave it out.');
    case 'symbol': return refuse(path, 'a symbol', 'Use its description instead.');
  }
  if (value === null) return 'null';
  if (value instanceof $Promise) {
    if (mapHas(promises.settled, value)) return write(mapGet(promises.settled, value), path, depth, promises);
    promises.found[promises.count++] = value;
    return 'null';
  }
  if (depth > limits.depth) throw new $RangeError('The value at ' + pathText(path) + ' is nested deeper than ' + limits.depth + ' levels.');
  for (let at = path.parent; at !== null; at = at.parent) {
    if (at.value === value) refuse(path, 'a cycle (it is ' + pathText(at) + ' again)', 'Return the parts that you need.');
  }
  path.value = value;
  if (typeof value[asyncIteratorSymbol] === 'function') refuse(path, 'an async iterator', 'Collect it with "for await" first.');
  const shown = represent(value, $String(path.key));
  if (typeof shown !== 'object' || shown === null) return write(shown, path, depth, promises);
  return isArray(shown) ? writeItems(shown, path, depth, promises) : writeMembers(shown, path, depth, promises);
};
// An item must keep its place: a symbol stands there as the error that it would be anywhere else.
const symbolItem = (path) => stringify({ __proto__: null, name: 'TypeError', message: 'The value at ' + pathText(path) + ' is a symbol, which has no JSON form.' });
const writeItems = (items, path, depth, promises) => {
  let text = '[';
  const length = items.length;
  measure(length);
  for (let i = 0; i < length; i++) {
    const part = typeof items[i] === 'symbol' ? symbolItem(step(path, i, undefined)) : write(items[i], step(path, i, undefined), depth + 1, promises);
    text += (i ? ',' : '') + (part === undefined ? 'null' : part);
  }
  return text + ']';
};
const writeMembers = (object, path, depth, promises) => {
  const names = keys(object);
  let text = '', length = names.length;
  for (let i = 0; i < length; i++) {
    const part = write(object[names[i]], step(path, names[i], undefined), depth + 1, promises);
    if (part !== undefined) text += (text ? ',' : '') + stringify(names[i]) + ':' + part;
  }
  return '{' + text + '}';
};

// Calls back with JSON text (undefined for no value), at once where no promise has to be awaited.
const encode = (value, root, most, done, failed) => {
  const promises = { __proto__: null, settled: new $Map(), found: list(), count: 0 };
  const attempt = (rounds) => {
    let text;
    measured = 0;
    allowed = most;
    try {
      if (rounds === 0 && isPlain(value, 0)) { done(value === undefined ? undefined : stringify(value)); return; }
      promises.found = list();
      promises.count = 0;
      text = write(value, step(null, root, undefined), 0, promises);
      if (promises.count > 0 && rounds > 50) throw new $RangeError('Promises inside ' + root + ' resolve to further promises without end.');
    } catch (error) { failed(error); return; }
    if (promises.count === 0) { done(text); return; }
    let waiting = promises.count;
    for (let i = 0, n = promises.count; i < n; i++) {
      const promise = promises.found[i];
      then(promise, (result) => { mapSet(promises.settled, promise, result); if (--waiting === 0) attempt(rounds + 1); }, failed);
    }
  };
  attempt(0);
};
