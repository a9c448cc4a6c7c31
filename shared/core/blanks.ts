/**
 * A text without HTTP's blanks around it: spaces and tabs (RFC 9110, section 5.6.3). Other characters that look blank, such as U+00A0, are
 * part of a name: JavaScript's own `trim` would make two names one.
 */
export function trimBlanks(text: string): string {
  let [start, end] = [0, text.length];
  while (start < end && isBlank(text[start])) start += 1;
  while (start < end && isBlank(text[end - 1])) end -= 1;
  return text.slice(start, end);
}

function isBlank(character: string | undefined): boolean {
  return character === ' ' || character === '\t';
}
