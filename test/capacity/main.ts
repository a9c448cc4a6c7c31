import { runLongSuite } from '#test/support/run/long-suite.ts';
import { capacityHelp, parseCapacityOptions } from './capacity-options.ts';

process.exitCode = await runLongSuite({
  ...{ name: 'capacity', folder: import.meta.dirname, help: capacityHelp, parse: parseCapacityOptions },
  toEnvironment: (options) => ({ CAPACITY_OPTIONS: JSON.stringify(options) }),
});
