import { registerHooks } from 'node:module';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { addedDeclarations, addedPlugins } from '#added-providers';
import { getErrorMessage, InvalidInputError } from '#core/errors.ts';
import { kitVersion, type ProviderDeclaration } from '#provider-kit/declaration.ts';
import type { ProviderPackage } from '#provider-kit/kit.ts';

/** A package whose provider was added. */
export interface AddedPackage {
  /** Its name. */
  readonly name: string;
  /** Its main module, an absolute path. */
  readonly file: string;
  readonly declaration: ProviderDeclaration;
}

/** Those of this process, in the order in which they were added. */
export const addedPackages: AddedPackage[] = [];

/** What packages import of Busdriver. */
const kitName = 'busdriver/provider-kit';

/** What stands before a package's name where this module imports it. */
const prefix = 'provider-package:';

/**
 * Adds the providers of npm packages to Busdriver's own, before any module that reads these is loaded: what names packages is a start
 * option, so whoever may write settings cannot make Busdriver run code. Packages get this process's kit, wherever they are.
 *
 * @param names packages, found from the working folder or else from that of the program
 * @param program `import.meta.url` of the program's main module
 * @throws InvalidInputError naming the package, and what was expected of it
 */
export async function addProviders(
  names: readonly string[],
  program: string,
): Promise<readonly AddedPackage[]> {
  if (names.length === 0) return [];
  const files = new Map<string, string>();
  const kit = new URL(program.endsWith('.js') ? 'kit.js' : '../../shared/provider-kit/kit.ts', program).href;
  registerHooks({
    resolve(specifier, context, next) {
      if (specifier === kitName) return { url: kit, shortCircuit: true };
      if (!specifier.startsWith(prefix)) return next(specifier, context);
      const name = specifier.slice(prefix.length);
      for (const parentURL of [pathToFileURL(`${process.cwd()}/`).href, program]) {
        try {
          const found = next(name, { ...context, parentURL });
          files.set(name, fileURLToPath(found.url));
          return found;
        } catch (error) {
          if ((error as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw error;
        }
      }
      throw refuse(name, `expected an installed package: run npm install ${name} in ${process.cwd()}`);
    },
  });
  for (const name of new Set(names)) {
    const { declaration, plugin } = await importPackage(name);
    addedDeclarations.push(declaration);
    addedPlugins.push(plugin);
    addedPackages.push({ name, file: files.get(name) ?? '', declaration });
  }
  await checkNames();
  return addedPackages;
}

async function importPackage(name: string): Promise<ProviderPackage> {
  if (!/^(@[\w.-]+\/)?\w[\w.-]*$/.test(name)) throw refuse(name, "expected a package's name");
  const found = await import(`${prefix}${name}`).catch((error) => {
    throw error instanceof InvalidInputError
      ? error
      : refuse(name, `loading it failed: ${getErrorMessage(error)}`);
  });
  const { declaration, plugin } = found as Partial<ProviderPackage>;
  if (declaration === undefined || typeof plugin?.open !== 'function')
    throw refuse(
      name,
      `expected the exports 'declaration' and 'plugin' of a provider, as ${kitName} has them`,
    );
  if (declaration.kit !== kitVersion)
    throw refuse(
      name,
      `expected declaration.kit to be ${kitVersion}, the version of this Busdriver's ${kitName}, not ${declaration.kit}`,
    );
  if (!/^[a-z][A-Za-z0-9]*$/.test(declaration.name) || declaration.name !== plugin.name)
    throw refuse(name, 'expected declaration.name and plugin.name to be one name, of letters and digits');
  return { declaration, plugin };
}

/** Names belong to the first that has them. Loaded late: nothing may read the lists of providers before packages are in them. */
async function checkNames(): Promise<void> {
  const { plugins } = await import('#providers/index.ts');
  const { awsResources } = await import('#providers/declarations.ts');
  for (const { name, declaration } of addedPackages) {
    if (plugins.filter((plugin) => plugin.name === declaration.name).length !== 1)
      throw refuse(name, `its provider is called ${declaration.name}, as another one is`);
    for (const { option } of declaration.awsResources ?? []) {
      if (awsResources.filter((each) => each.option === option).length !== 1)
        throw refuse(name, `another provider has its option ${option}s`);
    }
  }
}

function refuse(name: string, reason: string): InvalidInputError {
  return new InvalidInputError(`provider package '${name}': ${reason}`);
}
