/** The name that a misspelt option probably means: it differs by a letter, or one begins with the other. Undefined for none. */
export function findNearName(typed: string, names: readonly string[]): string | undefined {
  const isBeginning = (name: string) => name.startsWith(typed) || typed.startsWith(name);
  const near = names.find((name) => isNear(name, typed));
  return near ?? (typed.length > 2 ? names.find(isBeginning) : undefined);
}

/** Whether the names differ by one added, missing, other or swapped letter. */
function isNear(name: string, typed: string): boolean {
  let start = 0;
  while (start < name.length && name[start] === typed[start]) start += 1;
  const [rest, typedRest] = [name.slice(start), typed.slice(start)];
  const isSwapped =
    rest[0] === typedRest[1] && rest[1] === typedRest[0] && rest.slice(2) === typedRest.slice(2);
  return (
    isSwapped ||
    rest.slice(1) === typedRest ||
    rest === typedRest.slice(1) ||
    rest.slice(1) === typedRest.slice(1)
  );
}
