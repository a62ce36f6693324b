import { toRe2Token } from './pattern-re2.js';

/** What decides how a regular expression may be run. */
export interface PatternScan {
  /** A repetition or a choice inside a repetition: a backtracking engine may need exponential time. */
  readonly nested: boolean;
  /** Exponent of the steps that a backtracking engine needs in the length of the text, where nothing is nested. */
  readonly degree: number;
  /** Choices outside repetitions; each may double the steps. */
  readonly choices: number;
  /** The same expression in the syntax of RE2; null where RE2 cannot say it. */
  readonly re2: string | null;
}

interface Group {
  readonly looks: boolean;
  /** Anything in the group that can match in more than one way. */
  ambiguous: boolean;
  degree: number;
  /** Greatest degree of a look-around in the group: those do not multiply, for they are never re-entered. */
  lookDegree: number;
}

const TOKEN =
  /\\(?:u\{[0-9a-f]+\}|u[0-9a-f]{4}|x[0-9a-f]{2}|p\{[^}]*\}|c[a-z]|k<[^>]*>|\d+|.)|\[(?:\\.|[^\]\\])*\]|\(\?(?:<?[=!]|:|<[^>]*>)?|[*+?]\??|\{\d+(?:,\d*)?\}\??|./gisu;
const REPETITION = /^(?:[*+]|\{\d)/;
const FIXED_REPETITION = /^\{\d+\}/;

const openGroup = (token: string): Group => ({
  looks: /^\(\?<?[=!]/.test(token),
  ambiguous: false,
  degree: 0,
  lookDegree: 0,
});

/** Reads a valid ECMAScript regular expression once, from left to right. */
export function scanPattern(source: string): PatternScan {
  const groups: [Group, ...Group[]] = [openGroup('')];
  const [root] = groups;
  let nested = false;
  let choices = 0;
  let choiceAtRoot = false;
  let atomAmbiguous = false;
  let re2: string | null = '';
  for (const [token] of source.matchAll(TOKEN)) {
    const group = groups.at(-1) ?? root;
    let closedAmbiguous = false;
    if (token.startsWith('(')) groups.push(openGroup(token));
    else if (token === ')') closedAmbiguous = closeGroup(groups);
    else if (REPETITION.test(token)) {
      nested ||= atomAmbiguous;
      repeat(group, token);
    } else if (token === '|' || token.startsWith('?')) {
      choices += 1;
      group.ambiguous = true;
      choiceAtRoot ||= token === '|' && group === root;
    }
    atomAmbiguous = closedAmbiguous;
    re2 = append(re2, token);
  }
  const anchored = source.startsWith('^') && !choiceAtRoot;
  return { nested, degree: root.degree + root.lookDegree + (anchored ? 0 : 1), choices, re2 };
}

function repeat(group: Group, token: string): void {
  if (FIXED_REPETITION.test(token)) return;
  group.ambiguous = true;
  group.degree += 1;
}

function closeGroup(groups: Group[]): boolean {
  const inner = groups.pop();
  const outer = groups.at(-1);
  if (inner === undefined || outer === undefined) return false;
  outer.ambiguous ||= inner.ambiguous;
  if (inner.looks) outer.lookDegree = Math.max(outer.lookDegree, inner.degree + inner.lookDegree);
  else {
    outer.degree += inner.degree;
    outer.lookDegree = Math.max(outer.lookDegree, inner.lookDegree);
  }
  return inner.ambiguous;
}

function append(re2: string | null, token: string): string | null {
  const translated = re2 === null ? null : toRe2Token(token);
  return translated === null ? null : `${re2}${translated}`;
}
