import { join } from 'node:path';
import { expect, it } from 'vitest';
import { asJsonArray, getPath, type JsonValue } from '#core/json.ts';
import { writeConfig } from '#test/infra/local/start-files.ts';
import {
  describeWithRegistry,
  pushImage,
  registryPassword,
  registryUser,
  startRegistry,
} from '#test/support/artifacts/registry.ts';
import { makeTempDir } from '#test/support/run/temp-dir.ts';
import { configureDeployedSystem, getDeployment } from '#test/support/system/deployed-system.ts';

/** A rule starts the scheduler each minute, and each function that is called for the first time starts. */
const timeout = 150_000;

describeWithRegistry('images of a Docker registry, as deployed,', () => {
  it('are cached, found by functions without its password, and told when they are pushed', async () => {
    await using dir = await makeTempDir();
    await using open = await startRegistry({ storage: join(dir.path, 'registry') });
    await using registry = await startRegistry({ auth: { scheme: 'basic' }, storage: open.storage });
    await pushImage(open.url, { repository: 'shop/cart', tags: ['1'] });
    const account = {
      name: 'hub',
      address: registry.url,
      username: registryUser,
      password: registryPassword,
    };
    const settings = { dockerRegistry: { enabled: true, accounts: [{ ...account, trackDigests: true }] } };
    const config = await writeConfig(dir, JSON.stringify(settings));
    await using system = await configureDeployedSystem(getDeployment(), { config: [config] });

    const find = async (headers: Record<string, string> = {}) => {
      const answer = await system.fetch('/dockerRegistry/images/find?account=hub', { headers });
      return asJsonArray((await answer.json()) as JsonValue).map((image) => getPath(image, 'tag'));
    };
    await expect.poll(() => find(), { timeout, interval: 1_000 }).toEqual(['1']);
    const digest = await pushImage(open.url, { repository: 'shop/cart', tags: ['2'] });
    const demand = { 'cache-control': 'max-age=0' };
    await expect.poll(() => find(demand), { timeout, interval: 1_000 }).toEqual(['1', '2']);
    const listPushed = async () =>
      (await system.readEvents())
        .filter((event) => event['detail-type'] === 'ImagePushed')
        .map(({ detail }) => detail);
    const image = { account: 'hub', registry: new URL(registry.url).host, repository: 'shop/cart' };
    await expect.poll(listPushed, { timeout, interval: 1_000 }).toEqual([{ ...image, tag: '2', digest }]);

    const shown = await (await system.fetch('/credentials?expand=true')).text();
    const told = [shown, await system.readLog(), JSON.stringify(await system.readEvents())];
    expect(told.map((text) => text.includes(registryPassword))).toEqual([false, false, false]);
  }, 600_000);
});
