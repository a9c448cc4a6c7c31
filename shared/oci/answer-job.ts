import { parseBoundedJson } from '#core/bounded-json.ts';
import { FailedOperationError } from '#core/errors.ts';
import { asJsonArray, asString, getPath, type JsonValue } from '#core/json.ts';
import { answerJsonBounds } from './limits.ts';
import { isDigest } from './names.ts';

/** Media type of the layer with a chart's archive, as Helm writes it. */
const chartLayerType = 'application/vnd.cncf.helm.chart.content.v1.tar+gzip';

/** A query of a registry's answer. */
export interface AnswerQuery {
  readonly body: Uint8Array;
  /** Host that answered, for messages. */
  readonly host: string;
  /** What to read: a manifest's references, the names of a member's list, or an image's configuration. */
  readonly wanted: 'manifest' | { readonly member: string } | { readonly labelBytesMax: number };
}

/** The requested facts; others are left out. */
export interface RegistryFacts {
  /** The texts of a list. */
  readonly names: readonly string[];
  /** The digest of an index's manifest: that of Linux on AMD64, else the first of a known system. */
  readonly platform?: string | undefined;
  /** The digest of a manifest's configuration. */
  readonly config?: string | undefined;
  /** The chart layer of a manifest. */
  readonly chart?: { readonly digest: string; readonly size: number | undefined } | undefined;
  /** When an image was made, by its own statement. */
  readonly created?: string | undefined;
  /** Labels of an image in their order, up to a limit of bytes. */
  readonly labels: { readonly [name: string]: string };
}

/** @see JobModule */
export const location = import.meta.url;

/** Reads a registry's answer. @throws FailedOperationError for invalid JSON, or too much of it. */
export async function run({ body, host, wanted }: AnswerQuery): Promise<RegistryFacts> {
  const answer = parseAnswer(body, host);
  const nothing = { names: [], labels: {} };
  if (wanted === 'manifest') {
    const config = asString(getPath(answer, 'config', 'digest'));
    return {
      ...nothing,
      platform: findPlatform(answer),
      config: config !== undefined && isDigest(config) ? config : undefined,
      chart: findChart(answer),
    };
  }
  if ('member' in wanted) {
    // A repository without tags has null instead of a list.
    const names = asJsonArray(getPath(answer, wanted.member)).filter((name) => typeof name === 'string');
    return { ...nothing, names };
  }
  const created = asString(getPath(answer, 'created'));
  return {
    ...nothing,
    created: created !== undefined && !Number.isNaN(Date.parse(created)) ? created.slice(0, 64) : undefined,
    labels: pickLabels(getPath(answer, 'config', 'Labels'), wanted.labelBytesMax),
  };
}

function parseAnswer(body: Uint8Array, host: string): JsonValue {
  try {
    return parseBoundedJson(new TextDecoder().decode(body), answerJsonBounds).value;
  } catch {
    throw new FailedOperationError(`${host} answered no JSON, or too much of it`);
  }
}

function findPlatform(index: JsonValue): string | undefined {
  const entries = asJsonArray(getPath(index, 'manifests')).filter(
    (entry) => getPath(entry, 'platform', 'os') !== 'unknown',
  );
  const isUsual = (entry: JsonValue) =>
    getPath(entry, 'platform', 'os') === 'linux' && getPath(entry, 'platform', 'architecture') === 'amd64';
  const digest = asString(getPath(entries.find(isUsual) ?? entries[0], 'digest'));
  return digest !== undefined && isDigest(digest) ? digest : undefined;
}

function findChart(manifest: JsonValue): RegistryFacts['chart'] {
  const layer = asJsonArray(getPath(manifest, 'layers')).find(
    (each) => getPath(each, 'mediaType') === chartLayerType,
  );
  const digest = asString(getPath(layer, 'digest'));
  const size = getPath(layer, 'size');
  if (digest === undefined || !isDigest(digest)) return undefined;
  return { digest, size: typeof size === 'number' ? size : undefined };
}

function pickLabels(value: unknown, bytesMax: number): RegistryFacts['labels'] {
  const labels = new Map<string, string>();
  let bytes = 0;
  for (const [name, text] of Object.entries(typeof value === 'object' && value !== null ? value : {})) {
    if (typeof text !== 'string') continue;
    bytes += Buffer.byteLength(JSON.stringify([name, text]));
    if (bytes > bytesMax) break;
    labels.set(name, text);
  }
  return Object.fromEntries(labels);
}
