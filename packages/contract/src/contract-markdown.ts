import { CONTRACT_MARKDOWN_BYTES_MAX, type Contract } from './contract.js';
import { cutToBytes, toByteLength, toDisplayLine } from './text.js';

/**
 * Writes a contract as Markdown (CommonMark): under 1,500 bytes for a row without a schema. A row's texts are single lines
 * within a paragraph with their markup escaped, so none of them can open a heading, a fence, a link or HTML.
 */
export function contractToMarkdown(contract: Contract): string {
  const texts: Texts = { what: '', whenToUse: '', args: '', example: contract.example };
  if (toByteLength(toMarkdown(contract, texts)) + TEXT_BYTES_MIN >= CONTRACT_MARKDOWN_BYTES_MAX) texts.example = null;
  const skeleton = toByteLength(toMarkdown(contract, { ...texts, ...LABELLED_EMPTY }));
  // The row's schema is shown whole; the limit is for the rest.
  const schema = contract.arguments.schema;
  const schemaBytes = schema === undefined ? 0 : toByteLength(toSchemaBlock(schema));
  let left = CONTRACT_MARKDOWN_BYTES_MAX - 1 - (skeleton - schemaBytes);
  const take = (text: string, share: number) => {
    const fitted = cutToBytes(text, Math.max(0, Math.floor(left * share)), (value) => toByteLength(escapeText(value)));
    const escaped = escapeText(fitted.text);
    left -= toByteLength(escaped);
    return escaped;
  };
  texts.what = take(contract.what, 0.5);
  texts.whenToUse = take(contract.when_to_use, 0.5);
  texts.args = take(toArgumentLine(contract), 1);
  return toMarkdown(contract, texts);
}

interface Texts {
  what: string;
  whenToUse: string;
  args: string;
  example: Contract['example'];
}

/** What the row's texts are to have at least; an example that leaves less is shown in the JSON form only. */
const TEXT_BYTES_MIN = 300;
const LABELLED_EMPTY = { what: ' ', whenToUse: ' ', args: ' ' };

function toMarkdown(contract: Contract, texts: Texts): string {
  const { key, type, effect, risk, version, enabled, call } = contract;
  const labelled = (label: string, text: string) => (text === '' ? [] : [`**${label}:** ${text}`]);
  return `${[
    `# ${key}`,
    ...labelled('What', texts.what),
    ...labelled('When', texts.whenToUse),
    ...labelled('Arguments', texts.args),
    ...(contract.arguments.schema === undefined ? [] : [toSchemaBlock(contract.arguments.schema)]),
    `Type ${type}, effect ${effect}, risk ${risk}, version ${version}${enabled ? '' : ', disabled'}.`,
    `\`${call.method} ${call.path}\`${texts.example === null ? ' with this shape:' : ', for example:'}`,
    `\`\`\`json\n${JSON.stringify(texts.example ?? call.body)}\n\`\`\``,
    `**Answer:** ${contract.outcome}; ${contract.errors}.`,
    `**Fingerprint:** \`${contract.fingerprint}\``,
  ].join('\n\n')}\n`;
}

// JSON text has no line break of its own, so it cannot close its fence.
const toSchemaBlock = (schema: object) => `\`args\` fits this schema:\n\n\`\`\`json\n${JSON.stringify(schema)}\n\`\`\``;

function toArgumentLine(contract: Contract): string {
  const { positions } = contract.arguments;
  return positions
    .map(({ position, name, note, open_ended }) => {
      const place = `$${position}${open_ended ? '+' : ''}`;
      return `${place} ${name}${note === undefined ? '' : ` (${note})`}`;
    })
    .join(' | ');
}

/** Escapes what CommonMark would read as markup within a paragraph. */
function escapeText(text: string): string {
  return toDisplayLine(text).replace(/[\\`*_[\]<>&#~!]/g, '\\$&');
}
