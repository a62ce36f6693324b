import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { JsonObject } from '@rowcall/protocol';

/** A tool of a data set. */
export interface Tool {
  readonly id: string;
  readonly name: string;
  readonly description?: string;
  readonly category?: string;
  /** As it comes: it may name types that no standard knows. It is only searched. */
  readonly schema?: JsonObject | null;
}

/** A question, and the tools that answer it. */
export interface Question {
  readonly id: string;
  readonly set: string;
  readonly query: string;
  /** Ids; any order. */
  readonly relevant: readonly string[];
}

/** Tools and questions of a folder. */
export interface DataSet {
  readonly tools: readonly Tool[];
  readonly questions: readonly Question[];
}

function readLines<T>(file: string): T[] {
  return readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => JSON.parse(line) as T);
}

/** @throws Error when a file is missing, or a question asks for a tool that there is not. */
export function readDataSet(folder: string): DataSet {
  const tools = readLines<Tool>(path.join(folder, 'tools.jsonl'));
  const questions = readLines<Question>(path.join(folder, 'queries.jsonl'));
  const ids = new Set(tools.map(({ id }) => id));
  for (const { id, relevant } of questions) {
    const unknown = relevant.find((tool) => !ids.has(tool));
    if (unknown !== undefined) throw new Error(`question ${id} asks for ${unknown}, which is no tool`);
  }
  return { tools, questions };
}
