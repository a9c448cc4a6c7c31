import { parseExactJson } from '#core/bounded-json.ts';
import {
  asJsonArray,
  asJsonObject,
  asString,
  isJsonObject,
  type JsonObject,
  type JsonValue,
} from '#core/json.ts';
import type { ApiResource } from '../api/client.ts';
import { KubernetesApiError } from '../api/errors.ts';
import { isSecret } from '../manifest/sensitive.ts';
import type { ApiRequest } from '../transport/http.ts';

/** Characters of each end of an API server's text about a Secret that are searched for safe sentences. */
export const secretRefusalTextMax = 4_096;
/** The most invalid fields of a Secret that are reported; further ones are counted. */
export const secretRefusalCausesMax = 20;
/** Texts of a Secret shorter than this, characters, are too common to be searched for. */
export const secretValueLengthMin = 4;

const name = '"[-a-z0-9.]{1,253}"';
const fieldPath = '[A-Za-z.][-\\w.[\\]/ ]{0,253}';

/** Useful beginnings of an API server's text that hold nothing of the Secret: names, users, quotas, webhooks. */
const beginnings: readonly RegExp[] = [
  /^the server could not find the requested resource/,
  new RegExp(`^secrets ${name} (?:already exists|not found)`),
  new RegExp(`^namespaces ${name} not found`),
  new RegExp(
    `^secrets(?: ${name})? is forbidden: User "[^"\\\\]{1,300}" cannot [a-z]{1,20} resource "secrets" in API group ""` +
      ` (?:in the namespace ${name}|at the cluster scope)`,
  ),
  new RegExp(
    `^secrets(?: ${name})? is forbidden: (?:exceeded quota: [-a-z0-9.]{1,253}, requested: secrets=\\d{1,9}, used: secrets=\\d{1,9}` +
      ', limited: secrets=\\d{1,9}|unable to create new content in namespace [-a-z0-9]{1,63} because it is being terminated' +
      "|ValidatingAdmissionPolicy '[-\\w.]{1,253}' with binding '[-\\w.]{1,253}' denied request)",
  ),
  new RegExp(
    `^Operation cannot be fulfilled on secrets ${name}: the object has been modified; please apply your changes to the latest version and try again`,
  ),
  /^admission webhook "[-\w.]{1,253}" denied the request/,
  /^Internal error occurred: failed calling webhook "[-\w.]{1,253}"/,
  /^Apply failed with \d{1,4} conflicts?/,
];

/** Sentences that are safe anywhere: only numbers and types vary in them. */
const sentences: readonly RegExp[] = [
  /illegal base64 data at input byte \d{1,9}/,
  /cannot unmarshal (?:string|number|bool|array|object) into Go struct field Secret\.(?:data|stringData|metadata|type|immutable|kind|apiVersion) of type (?:map\[string\]|\[\])*(?:uint8|string|bool|v1\.ObjectMeta)/,
  /cannot (?:restore|convert) (?:map |slice |struct )?(?:from )?(?:string|int64|float64|bool|map|slice)(?: to (?:string|bool|int64|map|slice))?/,
  /field is immutable(?: when `immutable` is set)?/,
  /may not be more than \d{1,9} bytes/,
  /the server rejected our request due to an error in our request/,
  /a lowercase RFC 1123 (?:label|subdomain) must consist of lower case alphanumeric characters(?:, '-' or '\.'| or '-'), and must start and end with an alphanumeric character/,
  /a valid config key must consist of alphanumeric characters, '-', '_' or '\.'/,
  /a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '\.', and must start and end with an alphanumeric character/,
  /unknown patch type/,
  /request did not complete within requested timeout/,
  /etcdserver: request timed out/,
];

/** The end of such a text is safe: which fields should not be there, or what a field should hold. */
const strictBeginning = 'strict decoding error: ';
const strictEnd = new RegExp(
  `^${strictBeginning}(?:(?:unknown|duplicate) field "${fieldPath}"(?:, (?=[ud])|$)){1,50}$`,
);
const typedEnd =
  /(\.(?:data|stringData|metadata|type|immutable)(?:\.[-.\w]{1,253})?: expected (?:map|string|list|boolean)), got /;

/** Kubernetes' own words for the reasons of causes. */
const causeWords: ReadonlyMap<string, string> = new Map([
  ['FieldValueInvalid', 'Invalid value'],
  ['FieldValueRequired', 'Required value'],
  ['FieldValueForbidden', 'Forbidden'],
  ['FieldValueTooLong', 'Too long'],
  ['FieldValueTooMany', 'Too many'],
  ['FieldValueNotSupported', 'Unsupported value'],
  ['FieldValueDuplicate', 'Duplicate value'],
  ['FieldValueNotFound', 'Not found'],
  ['FieldValueTypeInvalid', 'Invalid type'],
]);

/** Kubernetes' machine-readable reasons of a refusal. Any other text there is not passed on. */
const knownReasons = new Set(
  (
    'Unauthorized Forbidden NotFound AlreadyExists Conflict Gone Invalid ServerTimeout StoreReadError Timeout TooManyRequests ' +
    'BadRequest MethodNotAllowed NotAcceptable RequestEntityTooLarge UnsupportedMediaType InternalError Expired ServiceUnavailable'
  ).split(' '),
);

/** Our own addition to an answer of 401, see `http.ts`. */
const ownAdvice = ': the API server refuses the credentials of ';

/**
 * An API server's refusal of a request about Secrets, without anything that could be a value of one. API servers, proxies and webhooks
 * quote what they refuse: a JSON patch that does not apply comes back as the whole Secret. So only sentences that are known to hold no
 * value are passed on, and of the details only the fields and their reasons.
 *
 * @param error what a request threw; returned unchanged unless it is a KubernetesApiError of a request that is about `v1` Secrets or sends
 *   one
 * @returns an error of the same status, without a reference to the given one
 */
export function withoutSecretValues<E>(
  error: E,
  resource: Pick<ApiResource, 'apiVersion' | 'plural'>,
  request: Pick<ApiRequest, 'path' | 'body'>,
): E | KubernetesApiError {
  if (!(error instanceof KubernetesApiError)) return error;
  const isMeant = resource.apiVersion === 'v1' && resource.plural === 'secrets';
  if (!isMeant && !/"kind":"secret"/i.test(request.body ?? '')) return error;
  const body = parseBody(request.body);
  if (!isMeant && !(isJsonObject(body) && isSecret(body))) return error;
  const told = { error, subject: describeSubject(request.path, body), values: listSubmittedValues(body) };
  const reason = knownReasons.has(error.reason) ? error.reason : '';
  return new KubernetesApiError(error.status, reason, formatMessage(told)).withDetails(toToldDetails(told));
}

interface Refusal {
  readonly error: KubernetesApiError;
  /** `Secret "keys"` */
  readonly subject: string;
  /** Submitted values, which must not appear in the path of a field. */
  readonly values: readonly string[];
}

function formatMessage(refusal: Refusal): string {
  const { error, subject, values } = refusal;
  const { message, status } = error;
  if (status === 401) {
    const ours = message.lastIndexOf(ownAdvice);
    return `Unauthorized${ours < 0 ? '' : message.slice(ours)}`;
  }
  const beginning = findBeginning(message.slice(0, secretRefusalTextMax), values);
  const parts = [...listCauses(refusal), ...listSentences(refusal)];
  if (beginning !== undefined) return [beginning, parts.join(', ')].filter((text) => text !== '').join(': ');
  const { reason } = error;
  const known = knownReasons.has(reason) ? `, ${reason}` : '';
  const outcome = reason === 'Invalid' ? 'is invalid' : `was refused (HTTP ${status}${known})`;
  const rest = 'what the API server says is left out, since it may quote values of the Secret';
  return `${subject} ${outcome}: ${parts.join(', ') || rest}`;
}

/** The fields that the server names, each with its safe text. */
function listCauses({ error, values }: Refusal): string[] {
  const causes = asJsonArray(error.details?.['causes']).filter(isJsonObject);
  const told = causes.slice(0, secretRefusalCausesMax).flatMap((cause) => {
    const text = asString(cause['message']) ?? '';
    const field = parseField(cause['field'], values);
    const what = findConflict(cause, text) ?? joinCause(cause, text);
    // The whole patch is not a field of the Secret.
    if (what === undefined || field === undefined || field === 'patch') return [];
    return [what.startsWith('conflict with') ? `${what}: ${field}` : `${field}: ${what}`];
  });
  const more = causes.length - secretRefusalCausesMax;
  return [...new Set(told), ...(more > 0 ? [`and ${more} more`] : [])];
}

function joinCause(cause: JsonObject, text: string): string | undefined {
  const words = causeWords.get(asString(cause['reason']) ?? '');
  if (words === undefined) return undefined;
  return [words, ...findSentences(text)].join(': ');
}

/** The other manager that owns a field in a server-side apply. */
function findConflict(cause: JsonObject, text: string): string | undefined {
  if (cause['reason'] !== 'FieldManagerConflict') return undefined;
  const pattern =
    /^conflict with "[^"\\]{1,128}"(?: with subresource "[a-z]{1,63}")?(?: using [\w./]{1,120})?/;
  return pattern.exec(text.slice(0, secretRefusalTextMax))?.[0] ?? 'conflict with another manager';
}

/** The safe sentences of the message, without its causes, which it repeats. */
function listSentences({ error, values }: Refusal): string[] {
  const { message, details } = error;
  const end = message.slice(-secretRefusalTextMax);
  const strict = end.slice(end.lastIndexOf(strictBeginning));
  const typed = typedEnd.exec(message.slice(0, secretRefusalTextMax))?.[1];
  const ends = [strictEnd.test(strict) ? strict : undefined, typed].filter((text) => text !== undefined);
  const plain = findSentences(message);
  const causes = asJsonArray(details?.['causes']).slice(0, secretRefusalCausesMax).map(asJsonObject);
  const repeated = causes.flatMap((cause) =>
    cause?.['field'] === 'patch' ? [] : findSentences(asString(cause?.['message']) ?? ''),
  );
  return [
    ...plain.filter((each) => !repeated.includes(each)),
    ...ends.filter((each) => !quotes(each, values)),
  ];
}

function findSentences(text: string): string[] {
  const ends = [text.slice(0, secretRefusalTextMax), text.slice(-secretRefusalTextMax)];
  return sentences.flatMap((pattern) => {
    const found = ends.map((end) => pattern.exec(end)?.[0]).find((match) => match !== undefined);
    return found === undefined ? [] : [found];
  });
}

function findBeginning(text: string, values: readonly string[]): string | undefined {
  for (const pattern of beginnings) {
    const [match] = pattern.exec(text) ?? [];
    if (match !== undefined && !quotes(match, values)) return match;
  }
  return undefined;
}

/** The path of a field, if it looks like one and contains no submitted value. */
function parseField(value: JsonValue | undefined, values: readonly string[]): string | undefined {
  const field = asString(value) ?? '';
  const isPath =
    field === 'patch' ||
    /^\.?(?:data|stringData|metadata|type|immutable|kind|apiVersion)(?:[.[][-\w.[\]/ ]{0,253})?$/.test(field);
  return isPath && !quotes(field, values) ? field : undefined;
}

function quotes(text: string, values: readonly string[]): boolean {
  return values.some((value) => text.includes(value));
}

/** The details that callers use, and the fields. */
function toToldDetails({ error, subject, values }: Refusal): JsonObject | undefined {
  const { details } = error;
  if (details === undefined) return undefined;
  const causes = asJsonArray(details['causes']).slice(0, secretRefusalCausesMax);
  const named = asString(details['name']);
  const isName = named !== undefined && new RegExp(`^${name}$`).test(`"${named}"`) && !quotes(named, values);
  return {
    ...(named !== undefined && { name: isName ? named : subject }),
    kind: 'secrets',
    ...(typeof details['retryAfterSeconds'] === 'number' && {
      retryAfterSeconds: details['retryAfterSeconds'],
    }),
    causes: causes.flatMap((cause) => {
      const field = parseField(asJsonObject(cause)?.['field'], values);
      const reason = asString(asJsonObject(cause)?.['reason']) ?? '';
      return field !== undefined && (causeWords.has(reason) || reason === 'FieldManagerConflict')
        ? [{ field, reason }]
        : [];
    }),
  };
}

/** The Secret that a request was about: the one in its path, or in its body if it is new. */
function describeSubject(path: string, body: JsonValue | undefined): string {
  const [, segment = ''] = /\/secrets\/([^/?]{1,800})/.exec(path) ?? [];
  const metadata = isJsonObject(body) ? asJsonObject(body['metadata']) : undefined;
  const submitted = asString(metadata?.['name']) ?? asString(metadata?.['generateName']) ?? '';
  const subject = segment === '' ? submitted : decodeName(segment);
  return subject === '' ? 'Secret' : `Secret ${JSON.stringify(subject.slice(0, 253))}`;
}

function decodeName(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

function parseBody(body: string | undefined): JsonValue | undefined {
  // Our own text, so it can be parsed.
  return body === undefined ? undefined : (parseExactJson(body) as JsonValue);
}

/** The texts of a submitted Secret or patch that no field's path may contain, each as written, encoded and decoded as base64. */
function listSubmittedValues(body: JsonValue | undefined): string[] {
  const roots = Array.isArray(body)
    ? body.map((operation) => asJsonObject(operation)?.['value'])
    : [asJsonObject(body)?.['data'], asJsonObject(body)?.['stringData']];
  return listTexts(roots)
    .flatMap((text) => [
      text,
      Buffer.from(text).toString('base64'),
      Buffer.from(text, 'base64').toString('utf8'),
    ])
    .filter((text) => text.length >= secretValueLengthMin);
}

/** The scalars within some values, as texts; without recursion, so that depth does not matter. */
function listTexts(roots: readonly (JsonValue | undefined)[]): string[] {
  const texts: string[] = [];
  const open = [...roots];
  while (open.length > 0) {
    const value = open.pop();
    if (typeof value === 'object' && value !== null) {
      for (const member of Object.values(value)) open.push(member);
    } else if (value !== undefined && value !== null) texts.push(String(value));
  }
  return texts;
}
