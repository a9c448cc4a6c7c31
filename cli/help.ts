/** The end of a help: a heading, and a line for each example. */
export function formatExamples(...examples: readonly string[]): string {
  return ['', 'Examples:', ...examples.map((example) => `  ${example}`)].join('\n');
}
