// The console: entries leave with their level; beyond the limits they are only counted.
let logCount = 0, logChars = 0, logsDropped = 0, logIndent = '';
// Memory that the worker reads when a loop of promise jobs, which cannot be stopped, keeps the outbox from it: how many
// code units of text follow and how many entries were dropped, then one entry a line.
const unread = new $ArrayBuffer(131072), unreadHead = new $Uint32Array(unread, 0, 2), unreadText = new Uint16Array(unread, 8);
const unreadMost = unreadText.length;
let unreadLost = 0;
const noteDropped = () => { unreadHead[1] = logsDropped + unreadLost; };
const noteUnread = (message) => {
  const from = unreadHead[0], length = message.length;
  if (from + length >= unreadMost) { unreadLost++; noteDropped(); return; }
  for (let i = 0; i < length; i++) unreadText[from + i] = charCode(message, i);
  unreadText[from + length] = 10;
  unreadHead[0] = from + length + 1;
};
const noteRead = () => { unreadHead[0] = unreadLost = 0; noteDropped(); };
const drop = () => { logsDropped++; noteDropped(); };
const record = (level, text) => {
  if (logCount >= limits.logs || logChars >= limits.logTotal) { drop(); return; }
  if (text.length > limits.logChars) text = slice(text, 0, limits.logChars) + '… (' + (text.length - limits.logChars) + ' more characters)';
  logCount++;
  logChars += text.length;
  const message = '{"t":"log","l":"' + level + '","m":' + stringify(wellFormed(text)) + '}';
  emit(message);
  noteUnread(message);
};
const formatPattern = /%([sdifoOjc%])/g;
const formatted = (args) => {
  let text = '', used = 0;
  if (args.length > 1 && typeof args[0] === 'string' && indexOf(args[0], '%') >= 0) {
    const template = args[0];
    let from = 0;
    used = 1;
    formatPattern.lastIndex = 0;
    for (let match; (match = exec(formatPattern, template)) !== null;) {
      text += slice(template, from, match.index);
      from = match.index + 2;
      const kind = match[1];
      if (kind === '%') text += '%';
      else if (used >= args.length) text += match[0];
      else if (kind === 'c') used++;
      else if (kind === 'd' || kind === 'i' || kind === 'f') { const value = args[used++]; text += typeof value === 'bigint' ? bigText(value) : kind === 'i' ? $String(Math.trunc($Number(safeText(value)))) : $String($Number(safeText(value))); }
      else text += inspect(args[used++]);
      if (text.length > limits.logChars) break;
    }
    text += slice(template, from);
  }
  for (; used < args.length && text.length <= limits.logChars; used++) text += (text === '' && used === 0 ? '' : ' ') + inspect(args[used]);
  return text;
};
const log = (level, args) => {
  if (logCount >= limits.logs || logChars >= limits.logTotal) { drop(); return; }
  let text;
  try { text = formatted(args); } catch { text = '[unreadable]'; }
  record(level, logIndent + text);
};
const label = (value) => (value === undefined ? 'default' : safeText(value));
const counts = new $Map(), clocks = new $Map();
const elapsed = (name) => name + ': ' + (dateNow() - mapGet(clocks, name)) + ' ms';
const console = {
  log(...args) { log('log', args); },
  info(...args) { log('info', args); },
  warn(...args) { log('warn', args); },
  error(...args) { log('error', args); },
  debug(...args) { log('debug', args); },
  dir(value) { log('log', [value]); },
  dirxml(...args) { log('log', args); },
  table(value) { log('log', [value]); },
  trace(...args) { log('trace', args); },
  assert(condition, ...args) { if (!condition) log('error', args.length ? ['Assertion failed:', formatted(args)] : ['Assertion failed']); },
  count(name) { const key = label(name), n = (mapGet(counts, key) || 0) + 1; mapSet(counts, key, n); log('log', [key + ': ' + n]); },
  countReset(name) { mapDelete(counts, label(name)); },
  time(name) { mapSet(clocks, label(name), dateNow()); },
  timeLog(name) { if (mapHas(clocks, label(name))) log('log', [elapsed(label(name))]); },
  timeEnd(name) { if (mapHas(clocks, label(name))) { log('log', [elapsed(label(name))]); mapDelete(clocks, label(name)); } },
  group(...args) { if (args.length) log('log', args); if (logIndent.length < 40) logIndent += '  '; },
  groupCollapsed(...args) { console.group(...args); },
  groupEnd() { logIndent = slice(logIndent, 0, -2); },
  clear() {},
};
global('console', console);
