import { runLongSuite } from '#test/support/run/long-suite.ts';
import { formatSoakHelp, parseSoakOptions } from './soak-options.ts';

/** `npm run soak`: runs the laboratory, the storm and other long tests. */
process.exitCode = await runLongSuite({
  ...{ name: 'soak', folder: import.meta.dirname, help: formatSoakHelp(), parse: parseSoakOptions },
  toEnvironment: (options) => ({
    SOAK_OPTIONS: JSON.stringify(options),
    STORM_CHANGES: String(options.changes),
    TEST_SIZE: 'long',
  }),
});
