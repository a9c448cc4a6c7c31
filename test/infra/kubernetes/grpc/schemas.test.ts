import { execFile } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import protobuf from 'protobufjs';
import descriptor from 'protobufjs/ext/descriptor/index.js';
import { expect, test } from 'vitest';
import { findPythonProblem, openPythonEnvironment } from '#test/deploy/python-environment.ts';
import { makeTempDir } from '#test/support/run/temp-dir.ts';

const run = promisify(execFile);
const missing = await findPythonProblem();
const root = join(import.meta.dirname, '../../../..');
const folder = join(root, 'infra/kubernetes/grpc');
const agentSchema = 'busdriver-agent-v1.proto';

/** A descriptor of a file, or of what is in it. */
interface Node {
  readonly name: string;
  readonly package?: string;
  readonly messageType?: readonly Node[];
  readonly nestedType?: readonly Node[];
  readonly enumType?: readonly Node[];
  readonly service?: readonly Node[];
  readonly method?: readonly Node[];
}

function listSymbols(at: string, node: Node): string[] {
  const { messageType = [], nestedType = [], enumType = [], service = [], method = [] } = node;
  return [...messageType, ...nestedType, ...enumType, ...service, ...method].flatMap((each) => [
    `${at}.${each.name}`,
    ...listSymbols(`${at}.${each.name}`, each),
  ]);
}

/** The files by the names that clients know them by; v1alpha of reflection differs from v1 by its package alone. */
async function readSources(): Promise<readonly (readonly [string, string])[]> {
  const reflection = await readFile(join(folder, 'reflection.proto'), 'utf8');
  const alpha = reflection.replace('package grpc.reflection.v1;', 'package grpc.reflection.v1alpha;');
  return [
    [agentSchema, await readFile(join(root, 'docs/agent', agentSchema), 'utf8')],
    ['grpc/health/v1/health.proto', await readFile(join(folder, 'health.proto'), 'utf8')],
    ['grpc/reflection/v1/reflection.proto', reflection],
    ['grpc/reflection/v1alpha/reflection.proto', alpha],
  ];
}

test.skipIf(missing !== undefined)(
  `the server has what protoc says of its schemas: npx vitest run test/infra/kubernetes/grpc/schemas --update${missing ? `: ${missing}` : ''}`,
  async () => {
    const { python } = await openPythonEnvironment();
    await using dir = await makeTempDir();
    const standard = new protobuf.Root();
    const sources = await readSources();
    for (const [name, text] of sources) {
      await mkdir(dirname(join(dir.path, name)), { recursive: true });
      await writeFile(join(dir.path, name), text);
      if (name !== agentSchema) protobuf.parse(text, standard, { keepCase: true });
    }
    const names = sources.map(([name]) => name);
    const cwd = dir.path;
    await run(python, ['-m', 'grpc_tools.protoc', '-I.', '--descriptor_set_out=set', ...names], { cwd });
    const { FileDescriptorSet, FileDescriptorProto } = descriptor;
    const set = FileDescriptorSet.decode(await readFile(join(cwd, 'set')));
    const { file = [] }: { readonly file?: readonly Node[] } = FileDescriptorSet.toObject(set);
    const files = file.map((each) => {
      const bytes = FileDescriptorProto.encode(FileDescriptorProto.fromObject(each)).finish();
      const symbols = listSymbols(each.package ?? '', each);
      return { name: each.name, symbols, bytes: Buffer.from(bytes).toString('base64') };
    });
    const schemas = { standard: standard.resolveAll().toJSON(), files };
    const generatedFile = join(folder, 'schemas.generated.json');
    await expect(`${JSON.stringify(schemas)}\n`).toMatchFileSnapshot(generatedFile);
  },
);
