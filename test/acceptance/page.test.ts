import { spawnSync } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from 'vitest';
import { makeTempDir } from '#test/support/run/temp-dir.ts';
import { startSystem } from '#test/support/system/system.ts';

const names = ['chromium', 'chromium-browser', 'google-chrome', 'chrome'];
const chromium = names.find((name) => spawnSync(name, ['--version']).status === 0);

/** Where the screenshots are saved, for README.md and docs. */
const folder = path.resolve(import.meta.dirname, '../../dist/screenshots');

test.skipIf(chromium === undefined)(
  'Chromium shows the page, and a task, without a script (skipped where there is no Chromium)',
  async () => {
    await using temp = await makeTempDir();
    await mkdir(folder, { recursive: true });
    const hostile = `shop'"><script>document.title = 'taken'</script>`;
    const accounts = [{ name: 'prod', kubeconfigFile: path.join(temp.path, 'missing') }];
    await using system = await startSystem({ settings: { kubernetes: { accounts } } });
    const manifests = [{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a', namespace: 'web' } }];
    const deployManifest = { account: 'prod', moniker: { app: hostile }, manifests };
    const id = await system.postOperations([{ deployManifest }]);
    expect((await system.waitForTask(id)).status.failed).toBe(true);

    const run = (target: string, ...what: readonly string[]) => {
      const profile = `--user-data-dir=${path.join(temp.path, 'profile')}`;
      const common = ['--headless', '--no-sandbox', '--disable-gpu', profile, '--window-size=1200,900'];
      const ended = spawnSync(chromium ?? '', [...common, ...what, new URL(target, system.url).href]);
      expect([target, ended.status]).toEqual([target, 0]);
      return ended.stdout.toString();
    };
    for (const [name, target] of [
      ['page', '/'],
      ['task', `/status?task=${id}`],
    ] as const) {
      const dom = run(target, '--dump-dom');
      expect(dom).toContain(name === 'page' ? '<title>Busdriver</title>' : `<title>Task ${id}</title>`);
      expect(dom).toContain('ENOENT');
      const file = path.join(folder, `${name}.png`);
      await writeFile(file, '');
      run(target, `--screenshot=${file}`);
      expect((await readFile(file)).subarray(1, 4).toString()).toBe('PNG');
    }
  },
);
