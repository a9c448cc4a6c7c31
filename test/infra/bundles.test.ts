import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { getBundles } from '../../infra/bundles.ts';
import {
  ceilings,
  describeLargest,
  type FunctionKind,
  getBundle,
  getSizes,
  listFunctions,
} from '../support/system/function-bundles.ts';

const functions = listFunctions();
const kinds = Object.keys(ceilings) as FunctionKind[];

describe('the bundles', () => {
  it('are those of all functions', () => {
    const modules = functions.map(({ module }) => module);

    expect([...getBundles().keys()].sort()).toEqual([...new Set(modules)].sort());
  });

  it.each(functions)('$module stays below the ceilings of its kind ($kind)', ({ module, kind }) => {
    const bundle = getBundle(module);
    const { startKb, wholeKb } = getSizes(bundle);
    const atStart = describeLargest(bundle, ['at-start']);
    const later = describeLargest(bundle, ['later']);

    expect(startKb, `KB at start; the largest are ${atStart}`).toBeLessThanOrEqual(ceilings[kind].startKb);
    expect(wholeKb, `KB in all; loaded later are ${later}`).toBeLessThanOrEqual(ceilings[kind].wholeKb);
  });

  it('leave for later what functions need that reach a cluster, an artifact or AWS', () => {
    const late = /undici|client\/kubernetes-client|client-(eks|sts|secrets-manager)|credential-provider-ini/;

    for (const module of ['api/credentials/list-credentials', 'api/manifests/get-manifest']) {
      const { files } = getBundle(module);
      const sources = (loaded: string) =>
        files.filter((file) => file.loaded === loaded).flatMap((file) => Object.keys(file.sources));

      expect(sources('at-start').filter((path) => late.test(path))).toEqual([]);
      expect(sources('later').filter((path) => late.test(path)).length).toBeGreaterThan(10);
    }
  });

  it('hold nothing of the schemas of answers, whose types alone are imported', () => {
    const bundles = functions.map(({ module }) => getBundle(module));
    const sources = bundles.flatMap(({ files }) => files.flatMap((file) => Object.keys(file.sources)));

    expect(sources.filter((path) => path.includes('shared/contract/'))).toEqual([]);
  });

  it.each(kinds)('of kind %s have the ceilings that docs/stacks.md tells', (kind) => {
    const text = readFileSync(join(import.meta.dirname, '..', '..', 'docs', 'stacks.md'), 'utf8');
    const row = text.split('\n').find((line) => line.startsWith(`| \`${kind}\` |`));
    const { startKb, wholeKb } = ceilings[kind];

    expect(row?.split('|').slice(3, 5).map(Number)).toEqual([startKb, wholeKb]);
  });

  it('have nothing of @kubernetes/client-node, which is large and of use to types and tests alone', () => {
    const sources = [...getBundles().values()]
      .flatMap(({ files }) => files)
      .flatMap((file) => Object.keys(file.sources));

    expect(sources.filter((path) => path.includes('credentials/kubeconfig.ts')).length).toBeGreaterThan(0);
    expect(sources.filter((path) => path.includes('@kubernetes/') || path.includes('openid-client'))).toEqual(
      [],
    );
  });

  it('load nothing late where nothing is asked', () => {
    for (const { module } of functions.filter(({ kind }) => kind === 'static')) {
      expect(getBundle(module).files.filter(({ loaded }) => loaded === 'later')).toEqual([]);
    }
  });
});
