// Timers: kept here, fired by the worker, one at a time so that promise jobs run in between.
const timers = new $Map();
let timerCount = 0, now = 0;
const addTimer = (callback, delay, repeats, args) => {
  if (typeof callback !== 'function') throw new $TypeError('The callback of a timer must be a function; text is not run.');
  if (mapSize(timers) >= limits.timers) throw new $RangeError('At most ' + limits.timers + ' timers may be waiting at once.');
  delay = +delay;
  if (!(delay > 0)) delay = 0;
  const id = ++timerCount;
  mapSet(timers, id, { __proto__: null, id, due: now + delay, callback, every: repeats ? max(delay, 1) : 0, args });
  return id;
};
global('setTimeout', function setTimeout(callback, delay, ...args) { return addTimer(callback, delay, false, args); });
global('setInterval', function setInterval(callback, delay, ...args) { return addTimer(callback, delay, true, args); });
global('setImmediate', function setImmediate(callback, ...args) { return addTimer(callback, 0, false, args); });
for (const name of ['clearTimeout', 'clearInterval', 'clearImmediate']) global(name, { [name](id) { mapDelete(timers, id); } }[name]);
global('queueMicrotask', function queueMicrotask(callback) {
  if (typeof callback !== 'function') throw new $TypeError('queueMicrotask takes a function.');
  then(resolved(), () => { try { callback(); } catch (error) { uncaught('a microtask', error); } });
});
const performance = { now() { return dateNow() - startedAt; } };
global('performance', performance);

const uncaught = (where, error) => record('error', 'Uncaught in ' + where + ': ' + (isError(error) ? errorLine(error) + position(error) : inspect(error)));
const framePattern = /\bprogram:(\d+):(\d+)/;
const position = (error) => {
  const match = exec(framePattern, stackText(error));
  return match === null ? '' : ' (line ' + match[1] + ', column ' + match[2] + ')';
};
const earliest = () => {
  let found = null;
  mapEach(timers, (timer) => { if (found === null || timer.due < found.due) found = timer; });
  return found;
};
const fireDue = () => {
  const timer = earliest();
  if (timer === null || timer.due > now) return;
  if (timer.every) timer.due = now + timer.every;
  else mapDelete(timers, timer.id);
  try { apply(timer.callback, undefined, timer.args); } catch (error) { uncaught('a timer', error); }
};
