import path from 'node:path';

// Node keeps what it compiled there, for all processes that tests start: without it each compiles some hundred modules again, which took a
// third of the processor time of all tests.
process.env['NODE_COMPILE_CACHE'] ??= path.resolve(
  import.meta.dirname,
  '../../../node_modules/.cache/busdriver-compiled',
);
