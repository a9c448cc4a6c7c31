import { readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { getBundle, getBundleSources, getBundles, listModules } from '#infra/aws/bundling/bundles.ts';
import {
  ceilings,
  describeLargest,
  estimateSizes,
  type FunctionKind,
  getSizes,
  joiningKbMax,
  listFunctions,
} from '#test/support/system/function-bundles.ts';

const functions = listFunctions();

/** The sources of all functions. */
function listSources(): readonly string[] {
  return functions.flatMap(({ module }) => {
    const { atStart, later } = getBundleSources(module);
    return [...Object.keys(atStart), ...Object.keys(later)];
  });
}

/** Every bundle once, by its name: for each function that shares it. */
const shared = Map.groupBy(getBundles(), ([, { name }]) => name);

const kinds = Object.keys(ceilings) as FunctionKind[];

describe('the bundles', () => {
  it('are those of all functions', () => {
    const modules = functions.map(({ module }) => module);
    expect([...listModules()].sort()).toEqual([...new Set(modules)].sort());
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
      const { atStart, later } = getBundleSources(module);

      expect(Object.keys(atStart).filter((path) => late.test(path))).toEqual([]);
      expect(Object.keys(later).filter((path) => late.test(path)).length).toBeGreaterThan(10);
    }
  });

  it('hold nothing of the schemas of answers, whose types alone are imported', () => {
    const sources = listSources();
    expect(sources.filter((path) => path.includes('shared/contract/'))).toEqual([]);
  });

  it.each(kinds)('of kind %s have the ceilings that docs/stacks.md tells', (kind) => {
    const text = readFileSync(join(import.meta.dirname, '../../../../docs/stacks.md'), 'utf8');
    const row = text.split('\n').find((line) => line.startsWith(`| \`${kind}\` |`));
    const { startKb, wholeKb } = ceilings[kind];
    expect(row?.split('|').slice(3, 5).map(Number)).toEqual([startKb, wholeKb]);
  });

  it('have nothing of @kubernetes/client-node, which is large, and of which they use types alone', () => {
    const sources = listSources();
    expect(sources.filter((path) => path.includes('credentials/kubeconfig.ts')).length).toBeGreaterThan(0);
    expect(sources.filter((path) => path.includes('@kubernetes/') || path.includes('openid-client'))).toEqual(
      [],
    );
  });

  it('are shared by functions that would begin with hardly less of their own', () => {
    for (const { module } of functions) {
      const ownKb = estimateSizes(module).startKb;
      expect(getSizes(getBundle(module)).startKb, module).toBeLessThan(1.05 * ownKb + joiningKbMax);
    }
    expect(shared.size).toBeLessThan(functions.length / 3);
  });

  it('have source maps, which name no folder of this machine', () => {
    for (const same of shared.values()) {
      const [[, { files, sourceMaps }] = ['', getBundle('')]] = same;
      const texts = new Map(sourceMaps.map(({ name, contents }) => [name, Buffer.from(contents).toString()]));
      // Those without sources pass on what others hold.
      const chunks = files.filter((file) => Object.keys(file.sources).length > 0);
      for (const { name, contents } of chunks)
        expect(Buffer.from(contents).toString()).toContain(`sourceMappingURL=${name}.map`);
      const maps = chunks.map(({ name }) => JSON.parse(texts.get(`${name}.map`) ?? '{}'));
      const sources = (maps as { readonly sources: readonly string[] }[]).flatMap((map) => map.sources);

      expect(sources).toEqual(expect.arrayContaining(same.map(([module]) => `../functions/${module}.ts`)));
      expect(sources.filter((source) => source.startsWith('/') || source.includes(tmpdir()))).toEqual([]);
    }
  });

  it('load nothing late where nothing is asked', () => {
    for (const { module } of functions.filter(({ kind }) => kind === 'static')) {
      expect(getBundleSources(module).later).toEqual({});
    }
  });
});
