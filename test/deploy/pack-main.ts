import { packAssembly } from './released-assembly.ts';

// node test/deploy/pack-main.ts ASSEMBLY FILE: keeps the templates of a release, for `npm run test:deploy` to begin the update with.
const [assembly = '', file = ''] = process.argv.slice(2);
await packAssembly(assembly, file);
