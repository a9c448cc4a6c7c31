import { InvalidInputError } from '#core/errors.ts';

/**
 * Whether any of the expressions holds for the active profiles. An expression is a profile's name, or names joined by
 * `!`, `&`, `|` and brackets; `&` and `|` mixed need brackets, as in Spring.
 *
 * @throws InvalidInputError for an expression that cannot be read.
 */
export function matchesProfiles(expressions: readonly string[], active: readonly string[]): boolean {
  return expressions.some((expression) => evaluateExpression(expression, new Set(active)));
}

interface ExpressionState {
  readonly expression: string;
  readonly tokens: readonly string[];
  readonly active: ReadonlySet<string>;
  /** Index of the next token. */
  position: number;
}

/** Characters of an expression: it is read recursively. */
const expressionLengthMax = 1_000;

function evaluateExpression(expression: string, active: ReadonlySet<string>): boolean {
  if (expression.length > expressionLengthMax) {
    throw new InvalidInputError(
      `a profile expression has ${expression.length} characters: at most ${expressionLengthMax} are read`,
    );
  }
  const tokens = expression.match(/[()&|!]|[^()&|!\s]+/g) ?? [];
  const state = { expression, tokens, active, position: 0 };
  const result = readOperands(state);
  if (state.position < tokens.length) throw createError(state);
  return result;
}

/** One operand, or several with one and the same operator between them. */
function readOperands(state: ExpressionState): boolean {
  const values = [readOperand(state)];
  const operator = state.tokens[state.position];
  while (operator !== undefined && '&|'.includes(operator) && state.tokens[state.position] === operator) {
    state.position += 1;
    values.push(readOperand(state));
  }
  return operator === '|' ? values.some(Boolean) : values.every(Boolean);
}

function readOperand(state: ExpressionState): boolean {
  const token = state.tokens[state.position];
  state.position += 1;
  if (token === '!') return !readOperand(state);
  if (token === '(') {
    const value = readOperands(state);
    if (state.tokens[state.position] !== ')') throw createError(state);
    state.position += 1;
    return value;
  }
  if (token === undefined || '&|)'.includes(token)) throw createError(state);
  return state.active.has(token);
}

function createError({ expression }: ExpressionState): InvalidInputError {
  return new InvalidInputError(
    `profile expression '${expression}': expected names joined by '!', '&' or '|', with brackets where '&' and '|' meet`,
  );
}
