import { AppError } from '@rowcall/errors';

/** Steps of one path. */
const STEPS_MAX = 100;
/** A step of the short form: `.name`, at the start without the dot; `[3]`; `["any name"]`. */
const STEP = /\.?([A-Za-z_$][A-Za-z0-9_$-]*)|\[([0-9]{1,9})\]|\["([^"\n]{0,128})"\]/y;

/**
 * Reads a path into a JSON value: a JSON Pointer (RFC 6901) such as `/a/b/0`, or the short form `a.b[0]`. The empty text
 * is the whole value. @returns names and indexes, as texts. @throws AppError invalid_args
 */
export function parseJsonPath(path: string): readonly string[] {
  const steps = path === '' || path.startsWith('/') ? parsePointer(path) : parseShort(path);
  if (steps.length > STEPS_MAX) throw new AppError('invalid_args', `the path has more than ${STEPS_MAX} steps`);
  return steps;
}

function parsePointer(path: string): string[] {
  if (/~(?![01])/.test(path)) throw badPath(path, 'has a ~ that is neither ~0 nor ~1');
  return path
    .split('/')
    .slice(1)
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));
}

function parseShort(path: string): string[] {
  const steps: string[] = [];
  for (let at = 0; at < path.length; at = STEP.lastIndex) {
    STEP.lastIndex = at;
    const step = STEP.exec(path);
    const isJoined = at === 0 ? path[0] !== '.' : path[at] === '.' || path[at] === '[';
    if (step === null || !isJoined) throw badPath(path, `cannot be read at character ${at + 1}`);
    steps.push(step[1] ?? step[2] ?? step[3] ?? '');
  }
  return steps;
}

const badPath = (path: string, problem: string): AppError =>
  new AppError('invalid_args', `the path ${JSON.stringify(path.slice(0, 80))} ${problem}; write a.b[0] or /a/b/0`);
