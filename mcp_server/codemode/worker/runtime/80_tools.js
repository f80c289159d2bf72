// `codemode`: one function per tool, made when first used, behind a proxy that says what is wrong with any other name.
const pending = new $Map();
const tools = new $Map();
const made = create(null);
let sequence = 0, calls = 0, reservedCalls = 0, refusedCalls = 0, refusedBytes = 0;

class ToolError extends Error {
  constructor(message) { super(message); }
}
define(ToolError.prototype, 'name', 'ToolError');

const toolError = (message, status, tool, site) => {
  const error = new ToolError(message);
  if (status !== undefined) error.status = status;
  error.tool = tool;
  if (site !== undefined) {
    const frames = stackText(site);
    define(error, 'stack', 'ToolError: ' + message + slice(frames, indexOf(frames, '\n')));
  }
  return error;
};
const nonAscii = /[^\x00-\x7f]/;
const utf8Exceeds = (text, limit) => {
  if (text.length > limit) return true;
  if (text.length * 3 <= limit || exec(nonAscii, text) === null) return false;
  let bytes = 0;
  for (let i = 0; i < text.length && bytes <= limit; i++) {
    const code = charCode(text, i);
    // A pair of surrogates makes four bytes: two for each half.
    bytes += code < 0x80 ? 1 : code < 0x800 || (code >= 0xd800 && code < 0xe000) ? 2 : 3;
  }
  return bytes > limit;
};

const admit = (tool) => {
  if (tool[0] === '$') return ++reservedCalls <= limits.reservedCalls;
  if (calls >= limits.calls) { refusedCalls++; return false; }
  calls++;
  return true;
};
// A flood of calls gets the same error again: making one for each would cost more than the calls.
let lastRefusal = null;
const tooMany = (name, site) => {
  if (lastRefusal !== null && refusedCalls + reservedCalls > limits.reservedCalls + 100) return lastRefusal;
  const most = name[0] === '$' ? limits.reservedCalls + ' searches' : limits.calls + ' tool calls';
  return lastRefusal = toolError('[429] A run may make at most ' + most + '. Use what you have, or split the work over several runs.', 429, name, site);
};
const tooLargeFor = (name, site) => {
  refusedBytes++;
  return toolError('[413] The arguments of ' + name + ' are larger than ' + limits.requestBytes + ' bytes. Send less at once.', 413, name, site);
};
const callTool = (target, name, args, site) => new $Promise((resolve, reject) => {
  if (!admit(name)) { reject(tooMany(name, site)); return; }
  encode(args.length === 0 ? undefined : args.length === 1 ? args[0] : args, 'arguments', limits.requestBytes, (text) => {
    if (text === undefined) text = '{}';
    if (utf8Exceeds(text, limits.requestBytes)) {
      reject(tooLargeFor(name, site));
      return;
    }
    // Only a call that is sent is waited for: one whose arguments hold a promise that never settles never is.
    const id = ++sequence;
    mapSet(pending, id, { __proto__: null, resolve, reject, name, site });
    emit('{"t":"call","i":' + id + ',"n":' + target + ',"a":' + stringify(text) + '}');
  }, (error) => { reject(error === tooLarge ? tooLargeFor(name, site) : error); });
});
// `$search("words", {limit: 3})` reads better than one object with named parts; such an object works too.
const named = (parameters, args) => {
  const first = args[0];
  if (args.length === 1 && typeof first === 'object' && first !== null && !isArray(first)) return first;
  const object = create(null);
  for (let i = 0; i < parameters.length && i < args.length; i++) object[parameters[i]] = args[i];
  return object;
};
const makeTool = (key, tool) => {
  const { target, name, parameters } = tool;
  const call = { [key](...args) {
    const site = calls < limits.calls ? {} : undefined;
    if (site !== undefined) captureStackTrace(site, call);
    return callTool(target, name, parameters === undefined ? args : { length: 1, 0: named(parameters, args) }, site);
  } }[key];
  made[key] = freeze(call);
  return call;
};

const distance = (a, b) => {
  let row = list();
  for (let j = 0; j <= b.length; j++) row[j] = j;
  for (let i = 1; i <= a.length; i++) {
    const next = list();
    next[0] = i;
    for (let j = 1; j <= b.length; j++) next[j] = min(next[j - 1] + 1, row[j] + 1, row[j - 1] + (a[i - 1] === b[j - 1] ? 0 : 1));
    row = next;
  }
  return row[b.length];
};
const closest = (name) => {
  let best = null, least = max(2, floor(name.length / 3)) + 1;
  const wanted = lower(slice(name, 0, 80));
  for (let i = 0; i < limits.tools.length; i++) {
    const apart = distance(wanted, lower(slice(limits.tools[i][0], 0, 80)));
    if (apart < least) { least = apart; best = limits.tools[i][0]; }
  }
  return best;
};
const unknown = (name) => {
  const near = closest(name);
  const hint = near === null ? 'Find one with await codemode.$search("what you need").' : 'Did you mean codemode.' + near + '?';
  return new $TypeError('codemode.' + slice(name, 0, 80) + ' is not a tool. ' + hint);
};
const readOnly = () => { throw new $TypeError('codemode is read-only: it holds the tools and nothing else.'); };
const codemode = new Proxy(made, {
  __proto__: null,
  get(target, key) {
    if (typeof key === 'symbol' || key === 'then' || key === 'toJSON') return undefined;
    if (hasOwn(target, key)) return target[key];
    const tool = mapGet(tools, key);
    if (tool === undefined) throw unknown(key);
    return makeTool(key, tool);
  },
  has(target, key) { return mapHas(tools, key); },
  ownKeys() {
    const names = [];
    for (let i = 0; i < limits.tools.length; i++) define(names, i, limits.tools[i][0]);
    return names;
  },
  getOwnPropertyDescriptor(target, key) {
    const tool = mapGet(tools, key);
    if (tool === undefined) return undefined;
    if (!hasOwn(target, key)) makeTool(key, tool);
    return getOwnPropertyDescriptor(target, key);
  },
  set: readOnly, defineProperty: readOnly, deleteProperty: readOnly, setPrototypeOf: readOnly, preventExtensions: readOnly,
});
defineProperty(G, 'codemode', { __proto__: null, value: codemode, enumerable: true, writable: false, configurable: false });

const registerTools = (entries) => {
  // The tool's own name works too, but never takes the place of another tool's identifier.
  for (let i = 0; i < entries.length; i++) mapSet(tools, entries[i][1], { __proto__: null, target: i, name: entries[i][1] });
  for (let i = 0; i < entries.length; i++) mapSet(tools, entries[i][0], { __proto__: null, target: i, name: entries[i][1] });
  for (let i = 0; i < limits.reserved.length; i++) {
    const name = limits.reserved[i][0];
    mapSet(tools, name, { __proto__: null, target: stringify(name), name, parameters: limits.reserved[i][1] });
  }
};
// The numbers of the calls without an answer; of interest once the program is done: nobody will await them any more.
const unanswered = () => {
  let text = '';
  mapEach(pending, (call, id) => { text += (text === '' ? '' : ',') + id; });
  return text;
};
const answer = (reply) => {
  const call = mapGet(pending, reply.i);
  if (call === undefined) return;
  mapDelete(pending, reply.i);
  if (!hasOwn(reply, 'e')) { call.resolve(hasOwn(reply, 'v') ? reply.v : undefined); return; }
  const failure = reply.e;
  const error = toolError(failure.message, hasOwn(failure, 'status') ? failure.status : undefined, failure.tool, call.site);
  if (hasOwn(failure, 'data')) error.data = failure.data;
  call.reject(error);
};
