import { InvalidInputError } from '#core/errors.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '#core/json.ts';

/** Environment variables by name. */
export type Variables = { readonly [name: string]: string | undefined };

/**
 * The settings with every `${name}` and `${name:default}` filled in, nested ones too. A name is looked up among the environment variables
 * (`kubernetes.home` also as `KUBERNETES_HOME`), then, unless it is all upper case, in `findSetting`. An unknown name without a default
 * stays as written, as in Spring.
 *
 * @throws InvalidInputError when placeholders refer to each other in a circle.
 */
export function resolvePlaceholders(
  settings: JsonObject,
  environment: Variables,
  findSetting: (path: string) => JsonValue | undefined,
): JsonObject {
  const lookUp = (name: string): string | undefined =>
    findVariable(environment, name) ?? (/[a-z]/.test(name) ? toText(findSetting(name)) : undefined);
  return resolveValue(settings, lookUp) as JsonObject;
}

/** Characters of a placeholder in which nested ones are searched: each is read once for each level around it. */
const placeholderLengthMax = 4_096;

/** Whether a text still holds a placeholder: a variable that was not set. */
export function hasPlaceholder(text: string): boolean {
  const start = text.indexOf('${');
  return start >= 0 && findEnd(text, start + 2) > 0;
}

type LookUp = (name: string) => string | undefined;

function resolveValue(value: JsonValue, lookUp: LookUp): JsonValue {
  if (typeof value === 'string') return resolveText(value, lookUp, []);
  if (Array.isArray(value)) return value.map((item) => resolveValue(item, lookUp));
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [key, resolveValue(member, lookUp)]),
  );
}

/** `pending` are the names whose values are being resolved, outermost first. */
function resolveText(text: string, lookUp: LookUp, pending: readonly string[]): string {
  const parts: string[] = [];
  let from = 0;
  for (;;) {
    const start = text.indexOf('${', from);
    const end = start < 0 ? -1 : findEnd(text, start + 2);
    if (end < 0) return parts.join('') + text.slice(from);
    const body = text.slice(start + 2, end);
    if (body.length > placeholderLengthMax && body.includes('${')) {
      throw new InvalidInputError(
        `a placeholder that holds others has ${body.length} characters: at most ${placeholderLengthMax} are read`,
      );
    }
    parts.push(text.slice(from, start), resolvePlaceholder(body, lookUp, pending));
    from = end + 1;
  }
}

/** The value of one placeholder, given the text between its braces. */
function resolvePlaceholder(body: string, lookUp: LookUp, pending: readonly string[]): string {
  const colon = findColon(body);
  const name = resolveText(colon < 0 ? body : body.slice(0, colon), lookUp, pending);
  if (pending.includes(name)) {
    throw new InvalidInputError(
      `placeholders refer to each other in a circle: ${[...pending, name].join(' -> ')}`,
    );
  }
  const value = lookUp(name);
  if (value !== undefined) return resolveText(value, lookUp, [...pending, name]);
  return colon < 0 ? `\${${body}}` : resolveText(body.slice(colon + 1), lookUp, pending);
}

/** Index of the brace that closes a placeholder whose inside begins at `from`; -1 when it is not closed. */
function findEnd(text: string, from: number): number {
  let depth = 0;
  for (let index = from; index < text.length; index += 1) {
    if (text[index] === '{') depth += 1;
    if (text[index] === '}' && depth === 0) return index;
    if (text[index] === '}') depth -= 1;
  }
  return -1;
}

/** Index of the first colon outside nested braces, where the default begins; -1 without a default. */
function findColon(body: string): number {
  let depth = 0;
  for (let index = 0; index < body.length; index += 1) {
    if (body[index] === '{') depth += 1;
    if (body[index] === '}') depth -= 1;
    if (body[index] === ':' && depth === 0) return index;
  }
  return -1;
}

/** A variable by its name, or by its name as shells can write it. Java's `user.home` is the home directory. */
function findVariable(environment: Variables, name: string): string | undefined {
  const shellName = name.replaceAll(/[.-]/g, '_');
  const home = name === 'user.home' ? environment.HOME : undefined;
  const find = (each: string) => (Object.hasOwn(environment, each) ? environment[each] : undefined);
  return find(name) ?? find(shellName) ?? find(shellName.toUpperCase()) ?? home;
}

/** The text of a scalar setting. Maps and lists cannot be placed inside a text. */
function toText(value: JsonValue | undefined): string | undefined {
  if (value === null) return '';
  return value === undefined || typeof value === 'object' ? undefined : String(value);
}
