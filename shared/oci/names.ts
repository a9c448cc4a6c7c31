const repositoryName = /^[a-z0-9][a-z0-9._/-]{0,254}$/;
const tagName = /^\w[\w.-]{0,127}$/;
const digestName = /^sha256:[0-9a-f]{64}$/;

/** Whether a text can be the name of a repository: no reference to an image could be made with another one. */
export function isRepositoryName(text: string): boolean {
  return repositoryName.test(text) && !/\.\.|\/\/|\/$/.test(text);
}

/** Whether a text can be a tag. */
export function isTag(text: string): boolean {
  return tagName.test(text);
}

/** Whether a text is a digest of the only kind that registries return: SHA-256. */
export function isDigest(text: string): boolean {
  return digestName.test(text);
}
