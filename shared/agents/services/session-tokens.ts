import { openBase } from '#platform/services/base.ts';
import type { Services } from '#platform/services/services.ts';
import { systemClock } from '#platform/services/system.ts';
import type { SessionKey } from '#tasks/session-key.ts';
import { openSessionKeyFile } from '../identity/session-key-file.ts';
import { SessionTokens } from '../identity/session-token.ts';

/** Of calls of KMS: an agent waits for them, and asks again. Milliseconds. */
const timeouts = { connectMs: 1_000, tryMs: 2_000, triesMax: 2, callMs: 4_500 };

/** Maker and verifier of the tokens of agents' sessions; undefined where no key for them is configured. */
export function openSessionTokens(services: Services): SessionTokens | undefined {
  return services.get(createTokens);
}

function createTokens(services: Services): SessionTokens | undefined {
  const { config, clock, randomness } = openBase(services);
  const { agentKeyArn, agentKeyFile } = config;
  if (agentKeyArn !== undefined)
    return new SessionTokens({ clock, key: createLateKey(services, agentKeyArn) });
  if (agentKeyFile === undefined) return undefined;
  return new SessionTokens({ clock, key: openSessionKeyFile({ randomness, keyFile: agentKeyFile }) });
}

/** The client of KMS is loaded with the first call: one machine never needs it. */
function createLateKey(services: Services, keyArn: string): SessionKey {
  let key: Promise<SessionKey> | undefined;
  const getKey = (): Promise<SessionKey> => {
    key ??= openKmsKey(services, keyArn);
    return key;
  };
  return {
    sign: async (data) => (await getKey()).sign(data),
    readPublicKey: async () => (await getKey()).readPublicKey(),
  };
}

async function openKmsKey(services: Services, keyArn: string): Promise<SessionKey> {
  const [{ KMSClient }, { createKmsSessionKey }, { limitCalls }] = await Promise.all([
    import('@aws-sdk/client-kms'),
    import('../aws/kms-session-key.ts'),
    import('#platform/aws/call-limit.ts'),
  ]);
  const client = new KMSClient({
    maxAttempts: timeouts.triesMax,
    requestHandler: {
      connectionTimeout: timeouts.connectMs,
      requestTimeout: timeouts.tryMs,
      throwOnRequestTimeout: true,
    },
  });
  services.closeLater(() => client.destroy());
  return createKmsSessionKey(limitCalls(client, { ...timeouts, clock: systemClock }), keyArn);
}
