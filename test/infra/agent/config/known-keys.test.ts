import { describe, expect, it } from 'vitest';
import { findKeys, toldMax } from '#infra/agent/config/known-keys.ts';

describe("the keys of an agent's file", () => {
  it('that nobody knows are told, with the one that is nearest', () => {
    const { unknown, unused } = findKeys({
      busdriver: { tokenFiel: 'x' },
      kubernetes: { accounts: [{ name: 'a', namespace: ['x'] }] },
      Sever: {},
      zoneid: 'eu',
    });
    expect(unused).toEqual([]);
    expect(unknown).toEqual([
      "busdriver.tokenFiel: unknown, and of no effect: did you mean 'tokenFile'?",
      "kubernetes.accounts[0].namespace: unknown, and of no effect: did you mean 'namespaces'?",
      "Sever: unknown, and of no effect: did you mean 'server'?",
    ]);
  });

  it('that do nothing are told once each, with the reason', () => {
    const { unknown, unused } = findKeys({
      pprof: { enabled: true, port: 6060 },
      logging: { level: 'INFO', maxBackups: 3, file: null },
      kubernetes: { accounts: [{ name: 'a', 'cache-threads': 3 }] },
    });
    expect(unknown).toEqual([]);
    expect(unused).toEqual([
      'pprof: of no effect: it is a profiler of programs in Go',
      'logging.maxBackups: of no effect: the log goes to standard error, where the container runtime collects it',
      "kubernetes.accounts[0].cache-threads: of no effect: Busdriver's definition of the account says that",
    ]);
  });

  it('are told in a bounded number', () => {
    const keys = Object.fromEntries(Array.from({ length: 5_000 }, (_, index) => [`key${index}zzzzzzzz`, 1]));
    const { unknown } = findKeys(keys);
    expect(unknown).toHaveLength(toldMax + 1);
    expect(unknown.at(-1)).toBe(`${5_000 - toldMax} more keys like these`);
  });
});
