import { spawnSync } from 'node:child_process';
import { resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { createAws } from '#platform/aws/identity/aws-access.ts';
import { presignEksToken } from '#providers/kubernetes/eks/eks-token.ts';
import golden from '#test/fixtures/eks/token-vectors.golden.json' with { type: 'json' };

type Vector = (typeof golden.vectors)[number];

const script = resolve('test/fixtures/eks/make-token-vectors.py');
const hasAwsCli = spawnSync('python3', ['-c', 'import awscli, botocore']).status === 0;

function presign({ accessKeyId, secretAccessKey, sessionToken, region, cluster, at }: Vector) {
  const credentials = { accessKeyId, secretAccessKey, ...(sessionToken !== null && { sessionToken }) };
  const aws = createAws({ clock: { now: () => at * 1000 }, environment: {} });
  return presignEksToken(aws, cluster, { region, credentials });
}

describe('a token is byte for byte that of aws eks get-token', () => {
  test.each(golden.vectors)('$region at $at, session token: $sessionToken', async (vector) => {
    expect(await presign(vector)).toBe(vector.token);
  });

  test.skipIf(!hasAwsCli)('also for keys and times of now (skipped where awscli is missing)', async () => {
    const now = Math.floor(Date.now() / 1000);
    const cases = golden.vectors.slice(-4).map((vector, index) => ({
      ...vector,
      secretAccessKey: `${vector.secretAccessKey}${now}`,
      sessionToken: vector.sessionToken && `${vector.sessionToken}/+= ${now}`,
      at: now - index * 86_400,
    }));
    const { stdout } = spawnSync('python3', [script, '-'], {
      input: JSON.stringify(cases),
      encoding: 'utf8',
    });
    const { vectors }: typeof golden = JSON.parse(stdout);
    expect(await Promise.all(cases.map(presign))).toEqual(vectors.map(({ token }) => token));
  });
});

test('fractions of a second do not matter', async () => {
  const [vector] = golden.vectors;
  if (vector === undefined) throw new Error('there are no vectors');
  expect(await presign({ ...vector, at: vector.at + 0.999 })).toBe(vector.token);
});
