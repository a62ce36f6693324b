import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';

const ROOT = path.resolve(import.meta.dirname, '../../..');

/** What may import what: a package sees those of the layers before its own, and in `pure` its siblings. */
const LAYERS: readonly (readonly string[])[] = [
  ['errors'],
  ['protocol'],
  ['config', 'contract', 'grants', 'receipts', 'resolver', 'substitution'],
  ['embedded-postgres', 'embeddings', 'process', 'store'],
  ['catalogue'],
  ['engine'],
];
const APPS = ['api', 'bench', 'cli', 'runner'];
/** For tests alone. */
const TEST_ONLY = ['testing'];

const PURE = LAYERS.slice(0, 3).flat();
/** Deterministic, so that a pure package may use it. */
const PURE_BUILT_INS = new Set(['node:crypto']);

/** Names by which a pure package would reach the clock, chance, the network or the process. */
const IMPURE = [
  /\bDate\.now\b/,
  /\bnew Date\(\)/,
  /\bMath\.random\b/,
  /\bprocess\.(?!send)/,
  /\bfetch\(/,
  /\brandom(Bytes|UUID|FillSync)\b/,
  /\bperformance\b/,
  /\bset(Timeout|Interval|Immediate)\b/,
];

function listSources(folder: string): string[] {
  const source = path.join(ROOT, folder, 'src');
  return readdirSync(source, { recursive: true })
    .map(String)
    .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts') && !file.startsWith('testing'))
    .map((file) => path.join(source, file));
}

/** A file without its comments. */
const readCode = (file: string): string => readFileSync(file, 'utf8').replace(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, '');

function importsOf(file: string): string[] {
  const text = readFileSync(file, 'utf8');
  return [...text.matchAll(/(?:from|import)\s*\(?\s*'([^']+)'/g)].map((match) => match[1] ?? '');
}

const workspaceImports = (folder: string): Set<string> =>
  new Set(
    listSources(folder)
      .flatMap(importsOf)
      .filter((name) => name.startsWith('@rowcall/'))
      .map((name) => name.split('/')[1] ?? ''),
  );

const layerOf = (name: string): number => LAYERS.findIndex((layer) => layer.includes(name));

describe('the layers', () => {
  it('name every package and app there is', () => {
    const packages = readdirSync(path.join(ROOT, 'packages')).filter((name) =>
      existsSync(path.join(ROOT, 'packages', name, 'package.json')),
    );
    expect(packages.sort()).toEqual([...LAYERS.flat(), ...TEST_ONLY, 'tooling'].sort());
    expect(readdirSync(path.join(ROOT, 'apps')).sort()).toEqual(APPS);
  });

  it.each(LAYERS.flat())('%s imports only what lies before it', (name) => {
    const layer = layerOf(name);
    const wrong = [...workspaceImports(`packages/${name}`)].filter((imported) => {
      const other = layerOf(imported);
      const sibling = other === layer && PURE.includes(name);
      return imported !== name && (other === -1 || (other >= layer && !sibling));
    });
    expect(wrong).toEqual([]);
  });

  it('substitution and flow do not know each other, and the resolver knows neither', () => {
    expect([...workspaceImports('packages/resolver')]).not.toContain('substitution');
  });

  it.each(APPS)('the app %s imports no other app and no test package', (name) => {
    const known = LAYERS.flat();
    expect([...workspaceImports(`apps/${name}`)].filter((imported) => !known.includes(imported))).toEqual([]);
  });

  it.each(PURE)('%s is pure: no I/O, clock or chance', (name) => {
    for (const file of listSources(`packages/${name}`)) {
      const builtIns = importsOf(file).filter(
        (imported) => imported.startsWith('node:') && !PURE_BUILT_INS.has(imported),
      );
      expect({ file, builtIns }).toEqual({ file, builtIns: [] });
      const code = readCode(file);
      expect({ file, found: IMPURE.filter((pattern) => pattern.test(code)).map(String) }).toEqual({ file, found: [] });
    }
  });

  it.each(
    [...LAYERS.flat(), ...TEST_ONLY].map((name) => `packages/${name}`).concat(APPS.map((name) => `apps/${name}`)),
  )('%s declares what it imports, and nothing else of the workspace', (folder) => {
    const manifest = JSON.parse(readFileSync(path.join(ROOT, folder, 'package.json'), 'utf8')) as {
      dependencies?: Record<string, string>;
    };
    const declared = Object.keys(manifest.dependencies ?? {}).filter((name) => name.startsWith('@rowcall/'));
    const imported = [...workspaceImports(folder)].map((name) => `@rowcall/${name}`);
    expect(declared.sort()).toEqual(imported.sort());
  });

  it('only the process package reads settings from the environment; the launcher hands PATH on', () => {
    const readers = [...LAYERS.flat().map((name) => `packages/${name}`), ...APPS.map((name) => `apps/${name}`)]
      .flatMap(listSources)
      .filter((file) => /\bprocess\.env\b/.test(readCode(file)))
      .map((file) => path.relative(ROOT, file));
    expect(readers.sort()).toEqual([
      'packages/embedded-postgres/src/run-command.ts',
      'packages/process/src/environment.ts',
    ]);
  });
});
