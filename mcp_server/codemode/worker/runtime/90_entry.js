// What the worker calls: `prepare`, `start`, `turn`, `drain`, `result`. Nothing of the host is reachable from here.
let outbox = list(), outboxSize = 0, outboxFrom = 0;
const emit = (message) => { outbox[outboxSize++] = message; };
let startedAt = dateNow();
let state = 'running', outcome = '';
const finish = (kind, text) => { if (state === 'running') { state = kind; outcome = text; } };

const quote = (text, most) => stringify(wellFormed(slice(text, 0, most)));
const errorMembers = (error) => {
  if (!isError(error)) return '"name":"Thrown","message":' + quote(inspect(error), 4000) + ',"stack":""';
  const parts = errorParts(error);
  let text = '"name":' + quote(parts.name, 200) + ',"message":' + quote(parts.message, 8000) + ',"stack":' + quote(stackText(error), 4000);
  try {
    if (error instanceof ToolError && hasOwn(error, 'tool')) {
      text += ',"tool":' + quote($String(error.tool), 200);
      if (typeof error.status === 'number') text += ',"status":' + stringify(error.status);
      if (hasOwn(error, 'data')) text += ',"data":' + stringify(dataText(error.data) || 'null');
    }
  } catch { /* What the program did to its error is its own loss. */ }
  return text;
};
const dataText = (data) => {
  measured = 0;
  allowed = limits.resultChars;
  return write(data, step(null, 'data', undefined), 0, { __proto__: null, settled: new $Map(), found: list(), count: 0 });
};
const fail = (error) => finish('error', '{' + errorMembers(error) + '}');

const inbox = create(null);
const entry = freeze({
  __proto__: null,
  inbox,
  unread,
  prepare(text) {
    limits = parse(text);
    startedAt = dateNow();
    seedRandom(limits.seed);
    registerTools(limits.tools);
  },
  start(main) {
    then(main(), (value) => {
      encode(value, 'result', limits.resultChars, (text) => {
        if (text === undefined) finish('undefined', '');
        else if (text.length > limits.resultChars) finish('oversize', '');
        else finish('ok', text);
      }, (error) => { if (error === tooLarge) finish('oversize', ''); else fail(error); });
    }, fail);
  },
  turn(time, text) {
    now = time;
    if (text !== '') {
      inbox.text = undefined;
      const replies = parse(text);
      for (let i = 0; i < replies.length; i++) answer(replies[i]);
    }
    fireDue();
  },
  // First line: state, calls that are waited for, when the next timer is due, what was refused and dropped, the numbers of
  // the calls left over at the end; then messages.
  drain() {
    let text = '';
    while (outboxFrom < outboxSize && text.length < 1000000) {
      text += (text === '' ? '' : ',') + outbox[outboxFrom];
      outbox[outboxFrom++] = undefined;
    }
    const more = outboxFrom < outboxSize;
    if (!more) { outbox = list(); outboxSize = outboxFrom = 0; }
    const timer = earliest();
    noteRead();
    return (more ? 'more' : state) + ' ' + mapSize(pending) + ' ' + (timer === null ? -1 : timer.due) + ' ' + refusedCalls + ' ' + refusedBytes + ' ' + logsDropped + ' ' + (more || state === 'running' ? '' : unanswered()) + '\n[' + text + ']';
  },
  result() { return outcome; },
});
// V8 compiles a function when it is first called: what every run needs is called now, before there is one to wait for it.
entry.prepare('{"tools":[],"reserved":[],"depth":1,"seed":[]}');
encode(0, '', 1, unanswered, unanswered);
entry.drain();
return entry;
