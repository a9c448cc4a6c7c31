import { describe, expect, it } from 'vitest';
import { SharedSecret } from '#access/http/shared-secret.ts';
import type { SecretStage } from '#platform/aws/identity/secret-source.ts';

const first = 'first-secret-of-spinnaker';
const second = 'second-secret-of-spinnaker';

/** A secret with its versions, a clock that is turned by hand, and a count of reads. */
class Vault {
  versions: { [stage in SecretStage]?: string } = { AWSCURRENT: first };
  nowMs = 0;
  reads = 0;
  readonly secret = new SharedSecret(
    {
      find: async (stage) => {
        this.reads += stage === 'AWSCURRENT' ? 1 : 0;
        return this.versions[stage];
      },
    },
    { monotonic: () => this.nowMs },
  );

  rotate(value: string): void {
    this.versions = {
      AWSCURRENT: value,
      ...(this.versions.AWSCURRENT && { AWSPREVIOUS: this.versions.AWSCURRENT }),
    };
  }
}

describe('SharedSecret', () => {
  it('matches its text and nothing else', async () => {
    const { secret } = new Vault();
    expect(await secret.matches(first)).toBe(true);
    for (const token of ['', first.slice(1), `${first}x`, first.toUpperCase(), second]) {
      expect(await secret.matches(token)).toBe(false);
    }
  });

  it('takes no notice of the line break with which a file ends', async () => {
    const vault = new Vault();
    vault.versions = { AWSCURRENT: `${first}\n` };
    expect(await vault.secret.matches(first)).toBe(true);
  });

  it('is read once for many requests', async () => {
    const vault = new Vault();
    for (let request = 0; request < 20; request += 1) await vault.secret.matches(first);
    expect(vault.reads).toBe(1);
  });

  it('is changed without an interruption: at once the new one passes, and the old one until the next change', async () => {
    const vault = new Vault();
    await vault.secret.matches(first);
    vault.nowMs = 11_000;
    vault.rotate(second);

    expect(await vault.secret.matches(second)).toBe(true);
    expect(await vault.secret.matches(first)).toBe(true);

    vault.nowMs = 22_000;
    vault.rotate('third-secret-of-spinnaker');
    expect(await vault.secret.matches('third-secret-of-spinnaker')).toBe(true);
    expect(await vault.secret.matches(first)).toBe(false);
  });

  it('stops passing after five minutes where nobody asks with another', async () => {
    const vault = new Vault();
    await vault.secret.matches(first);
    vault.rotate(second);
    vault.rotate('third-secret-of-spinnaker');

    vault.nowMs = 300_000;
    expect(await vault.secret.matches(first)).toBe(true);
    vault.nowMs = 300_001;
    expect(await vault.secret.matches(first)).toBe(false);
  });

  it('is not read for each wrong token', async () => {
    const vault = new Vault();
    for (let guess = 0; guess < 100; guess += 1) {
      vault.nowMs = guess * 100;
      await vault.secret.matches(`guess number ${guess} of many`);
    }
    expect(vault.reads).toBe(1);
  });

  it.each([undefined, '', 'short', '               \n'])('lets nobody in while it is %j', async (value) => {
    const vault = new Vault();
    vault.versions = value === undefined ? {} : { AWSCURRENT: value };
    await expect(vault.secret.matches(value ?? '')).rejects.toThrow(/at least 16 characters/);
  });
});
