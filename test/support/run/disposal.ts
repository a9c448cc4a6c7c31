import { afterAll, afterEach } from 'vitest';

/** What tests opened; undefined where opening it has failed. */
type Opened = () => readonly (AsyncDisposable | undefined)[];

async function dispose(opened: Opened): Promise<void> {
  for (const each of opened()) await each?.[Symbol.asyncDispose]();
}

/** Disposes of what each test of a suite opened, in this order. */
export function disposeAfterEach(opened: Opened): void {
  afterEach(() => dispose(opened));
}

/** Disposes of what a suite opened for all its tests, in this order. */
export function disposeAfterAll(opened: Opened): void {
  afterAll(() => dispose(opened));
}
