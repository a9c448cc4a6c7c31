import { readFile } from 'node:fs/promises';
import { writeAssemblies } from './many-assemblies.ts';

// node test/deploy/synthesize-main.ts FOLDER FILE: writes an assembly for each choice of options in a JSON file, by name.
const [folder = '', file = ''] = process.argv.slice(2);
await writeAssemblies(folder, JSON.parse(await readFile(file, 'utf8')));
