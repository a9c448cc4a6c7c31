import { describe, expect, test } from 'vitest';
import { systemClock } from '#platform/services/system.ts';
import { parseApplications, parseProjects } from '#providers/front50/answers.ts';
import { parseApiError } from '#providers/kubernetes/api/errors.ts';
import { includesVersion, isOlder } from '#providers/kubernetes/api/resource-version.ts';
import { parseLastApplied } from '#providers/kubernetes/apply/last-applied.ts';
import { parseJsonAnswer } from '#providers/kubernetes/client/json-answer.ts';
import { parseKubeconfigContext } from '#providers/kubernetes/credentials/kubeconfig.ts';
import { parseJson } from '#providers/kubernetes/manifest/annotations.ts';
import { parseLogProperties } from '#providers/kubernetes/reads/log-properties.ts';
import { LineSplitter } from '#providers/kubernetes/transport/line-splitter.ts';
import { parseRetryAfter } from '#providers/kubernetes/transport/retry.ts';
import { WatchReader } from '#providers/kubernetes/watch/watch.ts';
import { configMaps } from '../watch/watch-setup.ts';

const megabyte = 1_000_000;

/** Texts that a careless pattern follows again and again, to their ends. */
const texts: readonly (readonly [name: string, text: string])[] = [
  ['200 KB of <', '<'.repeat(200_000)],
  ...[
    ...['<', ' ', '{', '[', '\n', '.', '"', '\\', '<a', '{"a":', '[[],', ', ', '- ', 'a: ', '=', '9'],
    ...['\t\n', '\u0000'],
  ].map((part) => [`1 MB of ${JSON.stringify(part)}`, part.repeat(megabyte / part.length)] as const),
  ['a Status that ends in < of 1 MB', `{"kind":"Status","message":"${'<'.repeat(megabyte)}`],
  ['1 MB of lines of properties', 'SPINNAKER_PROPERTY_a=1\n'.repeat(megabyte / 23)],
  ['1 MB of lines of JSON properties', 'SPINNAKER_CONFIG_JSON={"a":1}\n'.repeat(megabyte / 30)],
];

const annotated = (text: string) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { annotations: { 'kubectl.kubernetes.io/last-applied-configuration': text } },
});

/** Whatever handles text of a cluster, or of what stands in its place. */
const readers: Record<string, (text: string) => unknown> = {
  parseApiError: (text) => parseApiError(500, text),
  'parseApiError of a part': (text) => parseApiError(500, text, true),
  parseJsonAnswer: (text) => parseJsonAnswer(text, 'prod', 'GET'),
  parseKubeconfigContext: (text) => parseKubeconfigContext(text),
  'lines of a watch': (text) => new LineSplitter(2 * megabyte).push(Buffer.from(text)),
  'lines of a watch, in small parts': (text) => {
    const splitter = new LineSplitter(2 * megabyte);
    const bytes = Buffer.from(text);
    for (let at = 0; at < bytes.length; at += 7) splitter.push(bytes.subarray(at, at + 7));
  },
  'events of a watch': (text) => readWatch(`${text}\n`),
  'the error of a watch': (text) =>
    readWatch(`${JSON.stringify({ type: 'ERROR', object: { message: text, code: 500 } })}\n`),
  'a version in a watch': (text) =>
    readWatch(`${JSON.stringify({ type: 'ADDED', object: { metadata: { resourceVersion: text } } })}\n`),
  isOlder: (text) => isOlder(text, `${text}0`),
  includesVersion: (text) => includesVersion(text, '5'),
  parseRetryAfter,
  'an annotation': parseJson,
  parseLastApplied: (text) => parseLastApplied(annotated(text)),
  parseLogProperties,
  'applications of Front50': (text) => parseApplications([{ name: text }]),
  'projects of Front50': (text) => parseProjects([{ name: text, config: { applications: [text] } }]),
};

function readWatch(text: string): unknown {
  const request = { resource: configMaps, resourceVersion: '1', timeoutSeconds: 1, until: '2' };
  return new WatchReader({ ...request, onChanges: () => undefined }, systemClock).take(Buffer.from(text));
}

/** Far above what any of it takes, and far below what a quadratic pattern takes: minutes. */
const mostMs = 8_000;

describe.each(Object.entries(readers))('%s', (_name, read) => {
  test.each(texts)('reads %s in a time that grows no faster than the text', (_what, text) => {
    const used = process.threadCpuUsage();
    try {
      read(text);
    } catch (error) {
      // It may refuse, in words: no stack has overflowed.
      expect(error).not.toBeInstanceOf(RangeError);
    }
    expect(process.threadCpuUsage(used).user / 1_000).toBeLessThan(mostMs);
  });
});
