/** Numbers of a release: `1.2` is `1.2.0`. A suffix (`-rc.1`, `+build`) is ignored here. */
const form = /^v?(\d{1,6})\.(\d{1,6})(?:\.(\d{1,6}))?(?:[-+].{0,100})?$/;

/** Whether a text names a release: `1.2.3`. */
export function isReleaseVersion(text: string): boolean {
  return form.test(text);
}

/** Whether a release is older than another one. Any other text is older than all. @param minimum a release */
export function isOlderRelease(version: string, minimum: string): boolean {
  const [own, least] = [toNumbers(version), toNumbers(minimum)];
  const index = least.findIndex((number, at) => own[at] !== number);
  return index >= 0 && (own[index] ?? -1) < (least[index] ?? 0);
}

function toNumbers(version: string): readonly number[] {
  const [, ...numbers] = form.exec(version) ?? [];
  return numbers.length === 0 ? [] : numbers.map((number = '0') => Number(number));
}
