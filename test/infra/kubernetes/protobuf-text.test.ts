import { spawn } from 'node:child_process';
import path from 'node:path';
import { createInterface } from 'node:readline';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { OperationMessage } from '#infra/kubernetes/agent-messages.ts';
import { operationResultSchema, operationSchema } from '#infra/kubernetes/agent-messages.ts';
import {
  formatProtobufText,
  messageTextMax,
  ProtobufTextError,
  parseProtobufText,
  type TextMessage,
  type TextSchema,
} from '#infra/kubernetes/protobuf-text.ts';
import { findPythonProblem, openPythonEnvironment } from '#test/deploy/python-environment.ts';

const operation: OperationMessage = {
  id: 'op-1',
  account: 'edge-7',
  type: 'deployManifest',
  task_id: '01J9ZK',
  kind: 'task',
  accepted_ms: 1_645_648_899_339,
  deadline_ms: 0,
};

const read = (text: string) => parseProtobufText(operationSchema, text);

function findProblem(text: string): string {
  try {
    read(text);
    return 'none';
  } catch (error) {
    if (error instanceof ProtobufTextError) return error.message;
    throw error;
  }
}

describe('the text form of messages', () => {
  test('is what toString() of a protobuf Operation is', () => {
    expect(formatProtobufText(operationSchema, operation)).toBe(
      'id: "op-1"\naccount: "edge-7"\ntype: "deployManifest"\ntask_id: "01J9ZK"\nkind: "task"\naccepted_ms: 1645648899339\n',
    );
    expect(formatProtobufText(operationSchema, { ...operation, id: `é"'\n` })).toContain(
      '"\\303\\251\\"\\\'\\n"',
    );
  });

  test('may be written otherwise, and means the same', () => {
    const text = `# of a peer
      deadline_ms:0, accepted_ms: 0x${operation.accepted_ms.toString(16)}; kind :'task' task_id: "01" # in parts
        "\\x4a9" '\\132\\u004b'
      type: "deployManifest" account: "edge-7" id: "op-1"`;
    expect(read(text)).toEqual(operation);
    expect(read('')).toEqual({
      ...operation,
      id: '',
      account: '',
      type: '',
      task_id: '',
      kind: '',
      accepted_ms: 0,
    });
  });

  test.each([
    ['id', "at character 3 ':' after 'id' is expected"],
    ['id "a"', "at character 4 ':' after 'id' is expected"],
    ['id: a', "at character 5 a text in quotes for 'id' is expected"],
    ['id: "a', "at character 7 the end of the text of 'id' is expected"],
    ['id: "a\nb"', "at character 7 the end of the text of 'id' is expected"],
    ['id: "\\q"', "at character 7 a known escape in the text of 'id' is expected"],
    ['id: "\\777"', "at character 10 a known escape in the text of 'id' is expected"],
    ['id: "\\uD800"', "at character 12 a known escape in the text of 'id' is expected"],
    ['id: "\\377"', "its 'id' is no UTF-8"],
    ['id: "a" id: "b"', "it has the field 'id' twice"],
    ['secret: "a"', "it has a field 'secret', which the message does not have"],
    ['__proto__: "a"', "it has a field '__proto__', which the message does not have"],
    ['accepted_ms: "1"', "at character 14 a whole number for 'accepted_ms' is expected"],
    ['accepted_ms: 1.5', "at character 14 a whole number for 'accepted_ms' is expected"],
    ['accepted_ms: 9007199254740992', "its 'accepted_ms' must be from -9007199254740991 to 9007199254740991"],
    [',', 'at character 1 the name of a field is expected'],
    ['{}', 'at character 1 the name of a field is expected'],
    [' '.repeat(messageTextMax + 1), 'it is longer than the 16384 characters that are read'],
  ])('is refused with what was expected where: %.60j', (text, problem) => {
    expect(findProblem(text)).toBe(problem);
  });

  test('is read in a time that grows with its length alone, whatever it holds', () => {
    for (const piece of ['#', ' ', '\\', '"', 'a', '#\n', '"" ', '0', 'id: ""']) {
      expect(typeof findProblem(piece.repeat(messageTextMax / piece.length))).toBe('string');
      expect(typeof findProblem(`id: "${piece.repeat(1_000)}`)).toBe('string');
      expect(typeof findProblem(`accepted_ms: ${piece.repeat(1_000)}`)).toBe('string');
    }
  });
});

const missing = await findPythonProblem();
const schemas = { Operation: operationSchema, OperationResult: operationResultSchema };

/** Protocol Buffers' own text format. */
class Oracle {
  readonly #answers: ((line: string) => void)[] = [];
  readonly #child;

  constructor(python: string) {
    const program = path.join(import.meta.dirname, 'text-format.py');
    this.#child = spawn(python, [program, JSON.stringify(schemas)], { stdio: ['pipe', 'pipe', 'inherit'] });
    createInterface(this.#child.stdout).on('line', (line) => this.#answers.shift()?.(line));
  }

  async ask(request: object): Promise<{ text?: string; values?: object; refused?: string }> {
    const { promise, resolve } = Promise.withResolvers<string>();
    this.#answers.push(resolve);
    this.#child.stdin.write(`${JSON.stringify(request)}\n`);
    return JSON.parse(await promise);
  }

  [Symbol.dispose](): void {
    this.#child.kill();
  }
}

describe.skipIf(missing !== undefined)(
  `the text form beside Protocol Buffers' own${missing ? `: ${missing}` : ''}`,
  () => {
    const stack = new DisposableStack();
    let oracle: Oracle;
    beforeAll(async () => {
      oracle = stack.use(new Oracle((await openPythonEnvironment()).python));
    });
    afterAll(() => stack.dispose());

    describe.each(Object.entries(schemas))('%s', (message, schema: TextSchema) => {
      const text = fc.string({ unit: 'binary', maxLength: 20 }).map((each) => each.toWellFormed());
      const numbers = {
        int64: fc.maxSafeInteger(),
        uint32: fc.integer({ min: 0, max: 0xffff_ffff }),
        string: text,
      };
      const fields = Object.entries(schema).map(([field, type]) => [field, numbers[type]] as const);
      const messages = fc.record(Object.fromEntries<fc.Arbitrary<string | number>>(fields));

      test('is written alike', async () => {
        await fc.assert(
          fc.asyncProperty(messages, async (values) => {
            const theirs = await oracle.ask({ message, values, options: { as_utf8: false } });
            expect(formatProtobufText(schema, values as TextMessage<TextSchema>)).toBe(theirs.text);
          }),
        );
      });

      test('is read alike, in whatever form it was written', async () => {
        const options = fc.record({ as_utf8: fc.boolean(), as_one_line: fc.boolean() });
        await fc.assert(
          fc.asyncProperty(messages, options, async (values, form) => {
            const { text: theirs = '' } = await oracle.ask({ message, values, options: form });
            expect(parseProtobufText(schema, theirs)).toEqual(values);
          }),
        );
      });

      test('what is taken, they take, and for the same', async () => {
        const piece = fc.oneof(
          fc.constantFrom(
            ...Object.keys(schema),
            ':',
            ' ',
            '"',
            "'",
            '\\',
            '\n',
            '#',
            ',',
            ';',
            '-',
            '0',
            '0x',
            '017',
            '\\n',
          ),
          fc.constantFrom(...Object.keys(schema)).map((field) => `${field}: `),
          fc.constantFrom('"a" ', "'\\101' ", '7 ', '-7 ', '010 ', '0xFf ', '"\\u00e9"', '"\\303\\251"'),
        );
        let taken = 0;
        await fc.assert(
          fc.asyncProperty(fc.array(piece, { maxLength: 8 }), async (pieces) => {
            const written = pieces.join('');
            let ours: object | undefined;
            try {
              ours = parseProtobufText(schema, written);
            } catch {
              return;
            }
            taken += 1;
            expect((await oracle.ask({ message, text: written })).values).toEqual(ours);
          }),
          { numRuns: 3_000 },
        );
        expect(taken).toBeGreaterThan(20);
      });
    });
  },
);
