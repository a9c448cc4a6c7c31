import path from 'node:path';

/**
 * Environment of a process that loads the CDK: Node keeps what it compiled of it for the next such process, which then takes a
 * second less of the processors' time.
 */
export const compileCache = {
  NODE_COMPILE_CACHE: path.resolve(import.meta.dirname, '../../../node_modules/.cache/busdriver-compiled'),
};
