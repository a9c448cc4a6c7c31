import { asJsonArray, isJsonObject, type JsonObject, type JsonValue } from '#core/json.ts';
import { AwsError } from '#infra/local/engines/engine.ts';

/** Whether an event matches. */
export type EventMatcher = (event: JsonObject) => boolean;

/** Whether one value of an event matches; `undefined` stands for an absent field. */
type ValueMatcher = (value: JsonValue | undefined) => boolean;

/**
 * Compiles an event pattern: objects follow the event's fields, arrays list alternatives, each a value or one of
 * `prefix`, `suffix`, `equals-ignore-case`, `anything-but`, `exists` and `numeric`. A field of the event that is an
 * array matches when one of its items does.
 *
 * @throws AwsError InvalidEventPatternException for anything else
 */
export function compilePattern(text: string): EventMatcher {
  let pattern: unknown;
  try {
    pattern = JSON.parse(text);
  } catch {
    throw refuse('is not JSON');
  }
  if (!isJsonObject(pattern)) throw refuse('must be an object');
  return compileObject(pattern);
}

function compileObject(pattern: JsonObject): EventMatcher {
  const fields = Object.entries(pattern).map(([name, rule]) => [name, compileField(name, rule)] as const);
  return (event) =>
    fields.every(([name, matches]) => matches(Object.hasOwn(event, name) ? event[name] : undefined));
}

function compileField(name: string, rule: JsonValue): ValueMatcher {
  if (isJsonObject(rule)) {
    const matches = compileObject(rule);
    return (value) => matches(isJsonObject(value) ? value : {});
  }
  if (!Array.isArray(rule) || rule.length === 0) throw refuse(`field '${name}' must be an object or a list`);
  const alternatives = rule.map(compileAlternative);
  return (value) => toCandidates(value).some((item) => alternatives.some((matches) => matches(item)));
}

function toCandidates(value: JsonValue | undefined): readonly (JsonValue | undefined)[] {
  return Array.isArray(value) && value.length > 0 ? value : [value];
}

function compileAlternative(rule: JsonValue): ValueMatcher {
  if (!isJsonObject(rule)) return (value) => value === rule;
  const [entry, ...others] = Object.entries(rule);
  const compile = entry && others.length === 0 ? compilers[entry[0]] : undefined;
  if (entry === undefined || compile === undefined) throw refuse(`${JSON.stringify(rule)} is not supported`);
  return compile(entry[1]);
}

const compilers: { readonly [name: string]: (operand: JsonValue) => ValueMatcher } = {
  prefix: (operand) => compileText(operand, (value, text) => value.startsWith(text)),
  suffix: (operand) => compileText(operand, (value, text) => value.endsWith(text)),
  'equals-ignore-case': (operand) =>
    compileText(operand, (value, text) => value.toLowerCase() === text.toLowerCase()),
  'anything-but': compileAnythingBut,
  exists(operand) {
    if (typeof operand !== 'boolean') throw refuse("'exists' takes true or false");
    return (value) => (value !== undefined) === operand;
  },
  numeric: compileNumeric,
};

function compileText(operand: JsonValue, test: (value: string, text: string) => boolean): ValueMatcher {
  if (typeof operand !== 'string') throw refuse('a text is expected');
  return (value) => typeof value === 'string' && test(value, operand);
}

function compileAnythingBut(operand: JsonValue): ValueMatcher {
  const rules = Array.isArray(operand) ? asJsonArray(operand) : [operand];
  const excluded = rules.map(compileAlternative);
  return (value) => value !== undefined && !excluded.some((matches) => matches(value));
}

const comparisons: { readonly [operator: string]: (value: number, limit: number) => boolean } = {
  '<': (value, limit) => value < limit,
  '<=': (value, limit) => value <= limit,
  '=': (value, limit) => value === limit,
  '>=': (value, limit) => value >= limit,
  '>': (value, limit) => value > limit,
};

/** `['>', 0, '<=', 5]`: every comparison must hold. */
function compileNumeric(operand: JsonValue): ValueMatcher {
  const list = asJsonArray(operand);
  const tests: ((value: number) => boolean)[] = [];
  for (let index = 0; index < list.length; index += 2) {
    const compare = comparisons[String(list[index])];
    const limit = list[index + 1];
    if (compare === undefined || typeof limit !== 'number') throw refuse("'numeric' takes comparisons");
    tests.push((value) => compare(value, limit));
  }
  if (tests.length === 0) throw refuse("'numeric' takes comparisons");
  return (value) => typeof value === 'number' && tests.every((test) => test(value));
}

function refuse(reason: string): AwsError {
  return new AwsError('InvalidEventPatternException', `Event pattern is not valid. Reason: ${reason}`);
}
