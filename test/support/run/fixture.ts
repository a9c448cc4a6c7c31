import { readFileSync } from 'node:fs';
import path from 'node:path';
import { parse } from 'yaml';

const folder = path.resolve(import.meta.dirname, '../../fixtures');

/** What a YAML file below `test/fixtures/` says, such as `kubernetes-v1/job.yaml`: whoever reads it knows its type. */
export function readFixture<T>(name: string): T {
  return parse(readFileSync(path.join(folder, name), 'utf8')) as T;
}
