// structuredClone for what programs hold: data, dates, maps, sets, errors, bytes, cycles.
global('structuredClone', function structuredClone(value) {
  if (arguments.length === 0) throw new $TypeError('structuredClone takes a value.');
  const seen = new $Map();
  const refuseClone = (what) => { const error = new $Error(what + ' could not be cloned.'); define(error, 'name', 'DataCloneError'); throw error; };
  const copyMembers = (from, to) => { const names = keys(from); for (let i = 0; i < names.length; i++) defineProperty(to, names[i], { __proto__: null, value: clone(from[names[i]]), writable: true, enumerable: true, configurable: true }); return to; };
  const remember = (from, to) => { mapSet(seen, from, to); return to; };
  const clone = (item) => {
    if (typeof item === 'function') refuseClone('The function ' + nameOf(item));
    if (typeof item === 'symbol') refuseClone(symbolText(item));
    if (typeof item !== 'object' || item === null) return item;
    if (mapHas(seen, item)) return mapGet(seen, item);
    if (item === codemode || item instanceof $Promise || item instanceof WeakMap || item instanceof WeakSet) refuseClone('A ' + (item === codemode ? 'tool object' : item.constructor.name));
    if (isArray(item)) { const to = remember(item, new $Array(item.length)); return copyMembers(item, to); }
    if (item instanceof $Date) return remember(item, new $Date(getTime(item)));
    if (item instanceof $RegExp) return remember(item, new $RegExp(item.source, item.flags));
    if (item instanceof $Map) { const to = remember(item, new $Map()); mapEach(item, (x, key) => mapSet(to, clone(key), clone(x))); return to; }
    if (item instanceof $Set) { const to = remember(item, new $Set()); setEach(item, (x) => to.add(clone(x))); return to; }
    if (item instanceof $ArrayBuffer) return remember(item, item.slice(0));
    if (typedTag(item) !== undefined) return remember(item, new item.constructor(clone(item.buffer), item.byteOffset, item.length));
    if (isError(item)) return remember(item, copyError(item));
    if (item instanceof $Number || item instanceof $String || item instanceof $Boolean || item instanceof $BigInt) return remember(item, $Object(item.valueOf()));
    return copyMembers(item, remember(item, {}));
  };
  const copyError = (error) => {
    const parts = errorParts(error), kinds = { EvalError, RangeError, ReferenceError, SyntaxError, TypeError, URIError };
    const to = new (hasOwn(kinds, parts.name) ? kinds[parts.name] : $Error)(parts.message);
    if (hasOwn(error, 'cause')) define(to, 'cause', clone(error.cause));
    return define(to, 'stack', stackText(error));
  };
  return clone(value);
});
