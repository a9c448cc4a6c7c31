import * as z from 'zod';
import { InvalidInputError } from '#core/errors.ts';
import type { JsonObject } from '#core/json.ts';
import {
  booleanField,
  enumField,
  intField,
  parseAt,
  requireField,
  settingsField,
  stringField,
  stringListField,
  stringMapField,
  withDefault,
} from './coerce.ts';
import { isPlainUrl } from './public-settings.ts';
import { getSetting } from './spring-config.ts';

/** The section about the Clouddriver behind this one. */
export const upstreamPath = 'busdriver.upstream';

/** Seconds that a merged list waits for the upstream, unless the settings give another number. */
export const upstreamTimeoutSecondsDefault = 5;

/** Bounds of that, seconds: a list must end within 20. */
export const upstreamTimeoutSeconds = { min: 1, max: 15 };

/** How the Clouddriver behind this one is called. */
export interface UpstreamSettings {
  /** With a slash at its end. */
  readonly baseUrl: URL;
  /** Accounts of this side that it has still: names, each with at most one `*` for any characters. */
  readonly keep: readonly string[];
  /** Milliseconds that a merged list waits for it. */
  readonly timeoutMs: number;
  /** What becomes of a list when it does not answer: marked as partial, or refused with 503. */
  readonly partial: 'mark' | 'refuse';
  /** Whether it answers a repeated `clientRequestId` with the same task, as Clouddriver does; go-clouddriver does not. */
  readonly deduplicates: boolean;
  /** Headers of each request, by name in lower case. They may be secret. */
  readonly headers: { readonly [name: string]: string };
  /** URL of an HTTP proxy; undefined without one. It may hold a password. */
  readonly proxy: string | undefined;
  /** Files in PEM: authorities instead of Node's own, and this client's certificate with its key. */
  readonly tls: {
    readonly caFile: string | undefined;
    readonly certFile: string | undefined;
    readonly keyFile: string | undefined;
  };
}

/** A name that a header may have, but for those that belong to a connection or to the request itself. */
const headerName =
  /^(?!(connection|content-length|content-type|expect|host|keep-alive|te|trailer|transfer-encoding|upgrade)$)[\w!#$%&'*+.^`|~-]+$/i;

const headersField = stringMapField().pipe(
  z
    .record(z.string(), z.string())
    .optional()
    .refine((headers = {}) => Object.keys(headers).every((name) => headerName.test(name)), {
      error: 'expected names of headers, none of which belongs to the connection or the body',
    })
    .refine((headers = {}) => Object.values(headers).every((value) => /^[\t\x20-\x7e]*$/.test(value)), {
      error: 'expected values of printable ASCII characters',
    }),
);

const keepField = stringListField().pipe(
  z
    .array(z.string())
    .readonly()
    .optional()
    .refine((patterns = []) => patterns.every((pattern) => /^[^*]*\*?[^*]*$/.test(pattern)), {
      error: 'expected names of accounts, each with at most one *',
    }),
);

const tlsFields = { caFile: stringField(), certFile: stringField(), keyFile: stringField() };
const fields = {
  baseUrl: stringField(),
  keep: withDefault(keepField, []),
  timeoutSeconds: withDefault(intField(upstreamTimeoutSeconds), upstreamTimeoutSecondsDefault),
  partial: withDefault(enumField(['mark', 'refuse']), 'mark'),
  deduplicates: withDefault(booleanField(), true),
  headers: headersField,
  proxy: stringField(),
  tls: settingsField(tlsFields),
};
const schema = requireField(settingsField(fields));

/** Paths of the settings that are read. */
export const upstreamSettingPaths: readonly string[] = [
  ...Object.keys(fields).map((name) => `${upstreamPath}.${name}`),
  ...Object.keys(tlsFields).map((name) => `${upstreamPath}.tls.${name}`),
];

/** Whether the settings name a Clouddriver behind this one. */
export function hasUpstream(settings: JsonObject): boolean {
  return Boolean(getSetting(settings, `${upstreamPath}.baseUrl`));
}

/** Whether the Clouddriver behind this one keeps an account. */
export function keepsAccount({ keep }: Pick<UpstreamSettings, 'keep'>, name: string): boolean {
  return keep.some((pattern) => {
    const [start = '', end] = pattern.split('*');
    if (end === undefined) return name === start;
    return name.length >= start.length + end.length && name.startsWith(start) && name.endsWith(end);
  });
}

/**
 * Reads `busdriver.upstream`.
 *
 * @returns undefined without a `baseUrl`, which is the default.
 * @throws InvalidInputError naming each wrong setting; it shows no URL, header or password.
 */
export function parseUpstreamSettings(settings: JsonObject): UpstreamSettings | undefined {
  const section = getSetting(settings, upstreamPath);
  if (section === undefined || section === null) return undefined;
  const {
    baseUrl,
    timeoutSeconds,
    headers = {},
    proxy,
    tls,
    ...others
  } = parseAt(schema, section, upstreamPath);
  if (!baseUrl) return undefined;
  const { caFile, certFile, keyFile } = tls ?? {};
  if ((certFile === undefined) !== (keyFile === undefined)) {
    throw new InvalidInputError(`${upstreamPath}.tls: expected certFile and keyFile, or neither`);
  }
  return {
    ...others,
    baseUrl: parseBaseUrl(baseUrl),
    timeoutMs: timeoutSeconds * 1000,
    headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value])),
    proxy: parseProxy(proxy),
    tls: { caFile, certFile, keyFile },
  };
}

function parseBaseUrl(text: string): URL {
  const url = URL.parse(text.endsWith('/') ? text : `${text}/`);
  if (url !== null && /^https?:$/.test(url.protocol) && isPlainUrl(url.href)) return url;
  throw new InvalidInputError(
    `${upstreamPath}.baseUrl: expected an http or https URL without user, query and fragment`,
  );
}

function parseProxy(text: string | undefined): string | undefined {
  if (!text) return undefined;
  if (/^https?:$/.test(URL.parse(text)?.protocol ?? '')) return text;
  throw new InvalidInputError(`${upstreamPath}.proxy: expected an http or https URL`);
}
