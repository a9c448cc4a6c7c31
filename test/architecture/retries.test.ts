import { describe, expect, it } from 'vitest';
import { getLine, loadSourceFiles, type SourceFile, type SyntaxNode, walk } from './source-files.ts';

/** Pauses, retries, limits of concurrency and time-outs are made here, once. */
const backOffFile = 'shared/core/back-off.ts';
const deadlineFile = 'shared/core/deadline.ts';
const concurrencyFile = 'shared/core/concurrency.ts';

/** The one who asks the machine for the time. */
const systemFile = 'shared/runtime/services/system.ts';

/** What runs: in Lambda, and on one machine. */
const files = loadSourceFiles().filter(({ path }) => /^(functions|infra\/local|shared)\//.test(path));
const sharedFiles = files.filter(({ path }) => path.startsWith('shared/'));

describe('a pause that grows, or that chance decides', () => {
  it(`is made by ${backOffFile}: no power but of constants elsewhere`, () => {
    expect(findGuilty(files, isComputedPower, [backOffFile])).toEqual([]);
  });

  it(`is made by ${backOffFile}: nothing is multiplied by chance elsewhere`, () => {
    expect(findGuilty(files, isRandomProduct, [backOffFile])).toEqual([]);
  });

  it(`goes by the clock that was given: timers of Node's are for ${systemFile}`, () => {
    expect(findGuilty(sharedFiles, isTimersImport, [systemFile])).toEqual([]);
  });
});

describe('a wait that something else may end', () => {
  it(`is one of ${deadlineFile}: no Promise.race elsewhere`, () => {
    expect(findGuilty(sharedFiles, isRace, [deadlineFile])).toEqual([]);
  });

  it(`for a turn is one of ${concurrencyFile}: nobody else calls the first who waits`, () => {
    expect(findGuilty(sharedFiles, isNextWaiter, [concurrencyFile])).toEqual([]);
  });
});

describe('the time', () => {
  it(`is read from the machine by ${systemFile}: what is in memory goes by one clock, which no step moves`, () => {
    const running = loadSourceFiles().filter(({ path }) =>
      /^(functions|infra\/(agent|host|local)|shared)\//.test(path),
    );
    expect(findGuilty(running, isWallTime, [systemFile])).toEqual([]);
  });
});

function findGuilty(
  among: readonly SourceFile[],
  isGuilty: (node: SyntaxNode) => boolean,
  exempt: readonly string[],
): string[] {
  return among
    .filter(({ path }) => !exempt.includes(path))
    .flatMap(({ path, text, parsed }) => {
      const found: string[] = [];
      walk(parsed.program, (node) => {
        if (isGuilty(node)) found.push(`${path}:${getLine(text, node.start)}`);
      });
      return found;
    });
}

/** `2 ** 20` is a constant, `2 ** tries` is not. */
function isComputedPower(node: SyntaxNode): boolean {
  const isPower = node.type === 'BinaryExpression' && node['operator'] === '**';
  return (isPower && getType(node['right']) !== 'Literal') || isCall(node, 'Math', 'pow');
}

/** Whether chance is multiplied, but for `fraction() * list.length`, which picks one of a list. */
function isRandomProduct(node: SyntaxNode): boolean {
  if (node.type !== 'BinaryExpression' || node['operator'] !== '*') return false;
  const right = node['right'] as SyntaxNode;
  if (right.type === 'MemberExpression' && getName(right['property']) === 'length') return false;
  let isRandom = false;
  walk(node, (inner) => {
    isRandom ||= isCall(inner, undefined, 'fraction') || isCall(inner, 'Math', 'random');
  });
  return isRandom;
}

function isTimersImport(node: SyntaxNode): boolean {
  if (node.type !== 'ImportDeclaration') return false;
  let isTimer = false;
  walk(node, (inner) => {
    isTimer ||= inner.type === 'ImportSpecifier' && getName(inner['imported']) === 'setTimeout';
  });
  return isTimer;
}

/** `Date.now()`, and `new Date()` of nothing. */
function isWallTime(node: SyntaxNode): boolean {
  const isNew = node.type === 'NewExpression' && getName(node['callee']) === 'Date';
  return isCall(node, 'Date', 'now') || (isNew && (node['arguments'] as unknown[]).length === 0);
}

function isRace(node: SyntaxNode): boolean {
  return isCall(node, 'Promise', 'race');
}

/** `waiting.shift()`, as a semaphore made by hand has it. */
function isNextWaiter(node: SyntaxNode): boolean {
  if (!isCall(node, undefined, 'shift')) return false;
  const of = (node['callee'] as SyntaxNode)['object'] as SyntaxNode;
  return /^#?wait/i.test(getName(of) ?? getName(of['property']) ?? '');
}

/** Whether a node is a call of a method. @param object its name; undefined: any */
function isCall(node: SyntaxNode, object: string | undefined, method: string): boolean {
  const callee = node['callee'] as SyntaxNode | undefined;
  if (node.type !== 'CallExpression' || callee?.type !== 'MemberExpression') return false;
  const isOf = object === undefined || getName(callee['object']) === object;
  return isOf && getName(callee['property']) === method;
}

function getName(node: unknown): string | undefined {
  const name = (node as SyntaxNode | undefined)?.['name'];
  return typeof name === 'string' ? name : undefined;
}

function getType(node: unknown): string | undefined {
  return (node as SyntaxNode | undefined)?.type;
}
