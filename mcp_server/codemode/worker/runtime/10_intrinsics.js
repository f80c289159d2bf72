// Taken before the program runs: whatever it does to the built-in prototypes, the runtime keeps working with these.
const G = globalThis;
let limits = { __proto__: null };
const { parse, stringify } = JSON;
const { apply, ownKeys } = Reflect;
const { create, defineProperty, freeze, getOwnPropertyDescriptor, getPrototypeOf, hasOwn, setPrototypeOf, keys } = Object;
const { isArray } = Array;
const ObjectPrototype = Object.prototype;
const [$Array, $ArrayBuffer, $BigInt, $Boolean, $Date, $Error, $Map, $Number, $Object, $Promise, $RangeError, $RegExp, $Set, $String, $Symbol, $TypeError, $Uint8Array, $Uint32Array] =
  [Array, ArrayBuffer, BigInt, Boolean, Date, Error, Map, Number, Object, Promise, RangeError, RegExp, Set, String, Symbol, TypeError, Uint8Array, Uint32Array];
const { floor, min, max, ceil } = Math;
const dateNow = Date.now;
const uncurry = apply(Function.prototype.bind, Function.prototype.bind, [Function.prototype.call]);
const getter = (prototype, name) => uncurry(getOwnPropertyDescriptor(prototype, name).get);
const TypedArrayPrototype = getPrototypeOf(Uint8Array.prototype);
const then = uncurry(Promise.prototype.then);
const promiseResolve = uncurry(Promise.resolve), resolved = () => promiseResolve($Promise);
const mapGet = uncurry(Map.prototype.get), mapSet = uncurry(Map.prototype.set), mapDelete = uncurry(Map.prototype.delete), mapHas = uncurry(Map.prototype.has);
const mapSize = getter(Map.prototype, 'size'), mapEach = uncurry(Map.prototype.forEach), setEach = uncurry(Set.prototype.forEach);
const toISO = uncurry(Date.prototype.toISOString), getTime = uncurry(Date.prototype.getTime);
const slice = uncurry(String.prototype.slice), charCode = uncurry(String.prototype.charCodeAt), codePoint = uncurry(String.prototype.codePointAt);
const indexOf = uncurry(String.prototype.indexOf), lastIndexOf = uncurry(String.prototype.lastIndexOf), lower = uncurry(String.prototype.toLowerCase);
const wellFormed = uncurry(String.prototype.toWellFormed), repeat = uncurry(String.prototype.repeat), normalize = uncurry(String.prototype.normalize);
const bigText = uncurry(BigInt.prototype.toString), numberText = uncurry(Number.prototype.toString);
const symbolText = uncurry(Symbol.prototype.toString);
const exec = uncurry(RegExp.prototype.exec), regexText = uncurry(RegExp.prototype.toString);
const typedTag = getter(TypedArrayPrototype, Symbol.toStringTag), typedLength = getter(TypedArrayPrototype, 'length');
const fromCharCode = String.fromCharCode, fromCodePoint = String.fromCodePoint;
const { captureStackTrace, isError } = Error;
const iteratorSymbol = Symbol.iterator, asyncIteratorSymbol = Symbol.asyncIterator, tagSymbol = Symbol.toStringTag;
const $Iterator = Iterator;

// A list that index setters on Array.prototype cannot see.
const list = () => setPrototypeOf([], null);
const define = (target, name, value) => defineProperty(target, name, { __proto__: null, value, writable: true, configurable: true, enumerable: false });
const global = (name, value) => define(G, name, value);
const nameOf = (fn) => { try { return typeof fn.name === 'string' ? fn.name : ''; } catch { return ''; } };
const safeText = (value) => { try { return typeof value === 'symbol' ? symbolText(value) : $String(value); } catch { return '[unreadable]'; } };

for (const name of ['WebAssembly', 'SharedArrayBuffer', 'Atomics', 'eval', 'FinalizationRegistry', 'WeakRef', '__timer_manager']) delete G[name];
