// Values to text for the console: never throws, stops at a budget of characters.
const inspect = (value) => {
  const state = { __proto__: null, left: limits.logChars };
  measured = 0;
  allowed = limits.logChars * 100;
  return typeof value === 'string' ? value : show(value, null, 0, state);
};
const spend = (text, state) => { state.left -= text.length; return text; };
const show = (value, parent, depth, state) => {
  switch (typeof value) {
    case 'string': return spend(stringify(value.length > limits.logChars ? slice(value, 0, limits.logChars) : value), state);
    case 'undefined': return spend('undefined', state);
    case 'bigint': return spend(bigText(value) + 'n', state);
    case 'symbol': return spend(symbolText(value), state);
    case 'function': return spend('[Function' + (nameOf(value) ? ': ' + nameOf(value) : '') + ']', state);
    case 'object': break;
    default: return spend($String(value), state);
  }
  if (value === null) return spend('null', state);
  if (value === codemode) return spend('[codemode]', state);
  if (value instanceof $Promise) return spend('[Promise]', state);
  if (depth > 12) return spend(isArray(value) ? '[Array]' : '[Object]', state);
  for (let at = parent; at !== null; at = at.parent) if (at.value === value) return spend('[Circular]', state);
  try { return showObject(value, step(parent, '', value), depth, state); } catch { return spend('[unreadable]', state); }
};
const showObject = (value, path, depth, state) => {
  if (isError(value)) return spend(errorLine(value), state);
  if (value instanceof $Iterator) return spend('[Iterator]', state);
  const shown = represent(value, '');
  if (typeof shown !== 'object' || shown === null) return typeof shown === 'string' ? spend(shown, state) : show(shown, path, depth + 1, state);
  const names = isArray(shown) ? null : keys(shown);
  const length = names === null ? shown.length : names.length;
  let text = '';
  for (let i = 0; i < length; i++) {
    if (state.left < 0) { text += ', …'; break; }
    if (names === null) text += (i ? ', ' : '') + show(shown[i], path, depth + 1, state);
    else text += (i ? ', ' : '') + spend(exec(identifierPattern, names[i]) ? names[i] : stringify(names[i]), state) + ': ' + show(shown[names[i]], path, depth + 1, state);
  }
  return names === null ? '[' + text + ']' : '{' + text + '}';
};
const noModules = 'Modules are not available: the program can only reach the tools, await codemode.<name>({...}).';
const errorLine = (error) => {
  const parts = errorParts(error);
  // What V8 says about import(); it has no hook for another text.
  if (parts.message === 'Not supported') parts.message = noModules;
  return parts.message ? parts.name + ': ' + parts.message : parts.name;
};
const stackText = (error) => {
  try { const stack = error.stack; return typeof stack === 'string' ? slice(stack, 0, 4000) : ''; } catch { return ''; }
};
const errorToText = uncurry($Error.prototype.toString);
define($Error.prototype, 'toString', function toString() { return isError(this) && this.message === 'Not supported' ? errorLine(this) : errorToText(this); });
