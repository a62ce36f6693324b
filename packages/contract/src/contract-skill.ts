import type { Contract } from './contract.js';
import { contractToMarkdown } from './contract-markdown.js';
import { toDisplayLine } from './text.js';

const NAME_CHARS_MAX = 64;
const DESCRIPTION_CHARS_MAX = 1_024;

/**
 * Writes a contract as a SKILL.md: YAML front matter with `name` (lower case, digits and hyphens, at most 64 characters)
 * and `description` (at most 1,024 characters), then the contract. The description is a JSON string, which YAML 1.2 reads
 * as it is, so no text of a row can add to the front matter or end it.
 */
export function contractToSkill(contract: Contract): string {
  return [
    '---',
    `name: ${toSkillName(contract.key)}`,
    `description: ${JSON.stringify(toDescription(contract))}`,
    '---',
    '',
    contractToMarkdown(contract),
    `How to authenticate, the answer in full and the list of errors: ${toDoor(contract)}`,
    '',
  ].join('\n');
}

function toSkillName(key: string): string {
  const name = key
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '')
    .slice(0, NAME_CHARS_MAX);
  return name === '' ? 'row' : name;
}

function toDescription(contract: Contract): string {
  const parts = [contract.what || `Calls ${contract.key}.`, contract.when_to_use].filter(Boolean).join(' ');
  // Readers of skills refuse tags in a description.
  const line = toDisplayLine(parts).replaceAll('<', '‹').replaceAll('>', '›');
  if (line.length <= DESCRIPTION_CHARS_MAX) return line;
  return `${line.slice(0, DESCRIPTION_CHARS_MAX - 1)}…`.toWellFormed();
}

const toDoor = (contract: Contract) => contract.links.map.replace(/\?.*$/, '');
