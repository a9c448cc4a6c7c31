import { Sha256 } from '@smithy/core/checksum';
import { SignatureV4 } from '@smithy/signature-v4';
import { localRegion } from '../../../infra/local/local-aws.ts';
import type { EngineCredentials } from '../../../shared/runtime/config.ts';

/** Gets a page of a local engine's EventBridge, such as `/events`, as `curl --aws-sigv4` does. @returns its JSON */
export async function getEventsPage(
  endpoint: string,
  path: string,
  credentials: EngineCredentials,
): Promise<unknown> {
  const url = new URL(path, endpoint);
  const signer = new SignatureV4({ credentials, region: localRegion, service: 'events', sha256: Sha256 });
  const { headers } = await signer.sign({
    ...{ method: 'GET', protocol: 'http:', hostname: url.hostname, path: url.pathname },
    ...{ query: Object.fromEntries(url.searchParams), headers: { host: url.host } },
  });
  const answer = await fetch(url, { headers });
  if (answer.status !== 200) throw new Error(`GET ${path}: ${answer.status} ${await answer.text()}`);
  return answer.json();
}
