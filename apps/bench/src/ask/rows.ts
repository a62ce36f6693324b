import { type RowWrite, rowWriteSchema } from '@rowcall/protocol';
import { newChance } from '../chance.js';
import { OBJECTS, pickByRank, QUALIFIERS, SYSTEMS, toName, VERBS } from './vocabulary.js';

/** What a row is about. */
export interface Capability {
  readonly verb: string;
  readonly object: string;
  readonly system: string;
  readonly qualifier: string;
  /** Of the product that the system belongs to. */
  readonly name: string;
}

const NAMES = 8_000;
/** Far apart, so that neighbours have nothing in common. */
const SEED_STEP = 0x9e3779b1;

/** What the row of an index is about: the same each time. */
export function toCapability(index: number): Capability {
  const chance = newChance(index * SEED_STEP);
  return {
    verb: pickByRank(VERBS, chance()),
    object: pickByRank(OBJECTS, chance()),
    system: pickByRank(SYSTEMS, chance()),
    qualifier: pickByRank(QUALIFIERS, chance()),
    name: toName(Math.floor(chance() * NAMES)),
  };
}

const capitalise = (text: string): string => `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`;

/**
 * A row such as an import of somebody's API makes. Words occur as they do in a language: few everywhere, most hardly
 * ever. Half the rows have a schema; a third say when to use them.
 * @param revision goes into the text that is searched.
 */
export function makeAskRow(index: number, revision = 0): RowWrite {
  const about = toCapability(index);
  const { verb, object, system, qualifier, name } = about;
  const noun = object.replace(' ', '_');
  const content = [
    `# WHAT: ${capitalise(verb)}s ${object}s ${qualifier} in the ${system} of ${name}.`,
    ...(index % 3 === 0 ? [`# WHEN_TO_USE: somebody wants to ${verb} a ${object}; revision ${revision}.`] : []),
    `# ARGS: $1=${noun}_id (of the ${object}) | $2=limit (how many, 1 to ${100 + revision})`,
  ];
  return rowWriteSchema.parse({
    key: `${system}_${verb}_${noun}_${index}`.toUpperCase(),
    type: 'http',
    target: `GET https://${name}.example.com/v1/${system}/${noun}s/$1?limit=$2`,
    auth: `bearer:${system.toUpperCase()}_TOKEN`,
    category: system,
    content: content.join('\n'),
    input_schema: index % 2 === 0 ? toSchema(noun, about) : null,
    source: 'openapi:bench',
  });
}

const toSchema = (noun: string, { object, system, qualifier }: Capability) => ({
  type: 'object',
  required: [`${noun}_id`],
  properties: {
    [`${noun}_id`]: { type: 'string', description: `Which ${object} of the ${system}.` },
    limit: { type: 'integer', description: `How many ${object}s ${qualifier} at the most.` },
  },
  'x-arg-order': [`${noun}_id`, 'limit'],
});
